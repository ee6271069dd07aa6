import Foundation

/// The folder for what a failed run leaves. Nothing in it is replaced: the files of a further run have a number in their names.
struct ArtifactFolder {
    let path: String

    struct Files {
        let bundle, report, recording: String
    }

    /// - Throws: ``Refusal`` if files could not be written there. Leaves nothing.
    init(_ path: String) throws {
        self.path = path
        var place = path
        while !FileManager.default.fileExists(atPath: place) { place = Self.parent(of: place) }
        var isDirectory: ObjCBool = false
        _ = FileManager.default.fileExists(atPath: place, isDirectory: &isDirectory)
        guard isDirectory.boolValue else {
            throw Self.refusal(path, place == path ? "it is not a folder" : "\(place) is not a folder")
        }
        guard access(place, W_OK | X_OK) == 0 else { throw Self.refusal(path, String(cString: strerror(errno))) }
        // Rights do not tell of a read-only or virtual file system.
        var probe = Array("\(place)/.entrupy-sim-XXXXXX".utf8CString)
        guard mkdtemp(&probe) != nil else { throw Self.refusal(path, String(cString: strerror(errno))) }
        rmdir(probe)
    }

    /// The folder that holds a file. `NSString` ends the program for a name of one character.
    private static func parent(of path: String) -> String {
        var bytes = Substring(path).utf8
        while bytes.count > 1, bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
        guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == bytes.startIndex ? "/" : String(Substring(bytes[..<slash]))
    }

    private static func refusal(_ path: String, _ reason: String) -> Refusal {
        Refusal(
            .usage, "the folder for artifacts \(path) cannot be written: \(reason)",
            next: "name another one with --artifacts")
    }

    /// Makes the folder.
    ///
    /// - Returns: the names of a run whose files are not there yet.
    func make() throws -> Files {
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch {
            throw Self.refusal(path, String(cString: strerror(errno)))
        }
        return (1...).lazy.map(files).first { ![$0.bundle, $0.report, $0.recording].contains(where: exists) }!
    }

    /// Takes the names of a run: makes its bundle as an empty file, so that a run beside this one takes others.
    ///
    /// - Parameter own: the names that go with the recording of this run; `nil` if there is none.
    func claim(_ own: Files?) throws -> Files {
        while true {
            var files = try make()
            if let own, !exists(own.bundle), !exists(own.report) { files = own }
            let descriptor = open(files.bundle, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            if descriptor >= 0 {
                close(descriptor)
                return files
            }
            guard errno == EEXIST else { throw Self.refusal(path, String(cString: strerror(errno))) }
        }
    }

    /// Removes a recording, and the folder if it is empty then.
    func discard(recording: String) {
        unlink(recording)
        rmdir(path)
    }

    private func files(_ number: Int) -> Files {
        let suffix = number == 1 ? "" : "-\(number)"
        func place(_ name: String) -> String { path + (path.utf8.last == UInt8(ascii: "/") ? "" : "/") + name }
        return Files(
            bundle: place("bundle\(suffix).tar"), report: place("report\(suffix).html"),
            recording: place("run\(suffix).recording"))
    }

    /// Whether something has this name, also a link that leads nowhere.
    private func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }
}
