import Evidence
import Foundation
import Logging
import NIOConcurrencyHelpers
import Simulation
import SimulationAPI

/// The file in which a server keeps its coverage, so that it outlives the process [D coverage].
///
/// A task writes it, and the server at its end: no request waits for it. An edge that is newly met, or met by another test, is in the file
/// within two seconds. Numbers that only grew are within thirty, because a busy server would write the file without end. A killed server
/// loses the rest. The file is replaced as a whole, so a reader never sees a part.
package final class CoverageFile: Sendable {
    let path: String
    private let ledger: CoverageLedger
    private let logger: Logger
    /// The numbers of changes that the file has, and whether the last attempt failed.
    private let saved = NIOLockedValueBox((changes: CoverageLedger.Changes(), hasFailed: false))

    /// Goes on from the file, if there is one. One that cannot be read is moved aside.
    ///
    /// - Returns: `nil` if the configuration names no file, and there is no data directory.
    /// - Throws: ``CoverageFileProblem`` if the folder does not exist, or the path is not that of a file.
    init?(_ configuration: ServerConfiguration, _ ledger: CoverageLedger, _ logger: Logger) throws {
        self.ledger = ledger
        self.logger = logger
        if let path = configuration.coverageFile {
            self.path = path
            try checkPlace()
        } else if let directory = configuration.namespaces.dataDirectory {
            // The server makes the directory later.
            path = "\(directory)/coverage.json"
        } else {
            return nil
        }
        // Nothing below a data directory is opened through a link.
        try load(followsLinks: configuration.coverageFile != nil)
        saved.withLockedValue { $0.changes = ledger.changes }
    }

    private func checkPlace() throws {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
            throw CoverageFileProblem("the coverage cannot be kept in \(path): there is no folder \(folder)")
        }
        if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue {
            throw CoverageFileProblem("the coverage cannot be kept in \(path): it is a folder")
        }
    }

    private func load(followsLinks: Bool) throws {
        guard let bytes = try contents(followsLinks: followsLinks) else { return }
        do {
            let unknown = ledger.load(try Coverage(file: bytes))
            guard !unknown.isEmpty else { return }
            logger.warning(
                "the file of coverage has edges that this version does not have; they are kept",
                metadata: ["file": "\(path)", "count": "\(unknown.count)", "first": "\(unknown[0])"])
        } catch {
            let aside = "\(path).unreadable"
            let problem = "\((error as? Coverage.FileProblem)?.description ?? "\(error)")"
            guard rename(path, aside) == 0 else {
                throw CoverageFileProblem(
                    "\(path) is not a file of coverage: \(problem). Move it, or name another file")
            }
            logger.warning(
                "the file of coverage cannot be read and was moved aside; counting begins anew",
                metadata: ["file": "\(path)", "moved_to": "\(aside)", "problem": "\(problem)"])
        }
    }

    /// The bytes of the file, at most one more than it can have; `nil` if there is none.
    private func contents(followsLinks: Bool) throws -> Data? {
        let flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC | (followsLinks ? 0 : O_NOFOLLOW)
        let descriptor = Foundation.open(path, flags)
        guard descriptor >= 0 else {
            // A data directory that is a file is reported where it is opened.
            guard errno != ENOENT, errno != ENOTDIR else { return nil }
            throw CoverageFileProblem("\(path) cannot be read: \(String(cString: strerror(errno)))")
        }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            return try file.read(upToCount: Coverage.FileLimits.bytes + 1) ?? Data()
        } catch {
            throw CoverageFileProblem("\(path) cannot be read: \(error.localizedDescription)")
        }
    }

    /// Writes the file if something was counted since it was written. Blocks. A problem is logged once, until writing succeeds again.
    ///
    /// - Parameter onlyIfNew: whether numbers that only grew are no reason to write it.
    func save(onlyIfNew: Bool = false) {
        let (now, before) = (ledger.changes, saved.withLockedValue { $0.changes })
        guard onlyIfNew ? now.new != before.new : now != before else { return }
        let (coverage, changes) = ledger.saved
        do {
            try PrivateFile.replace(path, with: WireJSON.encode(coverage))
            saved.withLockedValue { $0 = (changes, false) }
        } catch {
            let isNew = saved.withLockedValue { saved in
                defer { saved.hasFailed = true }
                return !saved.hasFailed
            }
            if isNew {
                logger.error("the coverage cannot be saved", metadata: ["file": "\(path)", "problem": "\(error)"])
            }
        }
    }
}

struct CoverageFileProblem: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
