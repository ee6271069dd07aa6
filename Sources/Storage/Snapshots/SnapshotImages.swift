import Foundation

// The images that snapshots refer to.

extension SnapshotStore {
    /// All images that any snapshot refers to.
    package func allImages() throws -> Set<ImageHash> {
        guard let root else {
            return try memory.withLockedValue { $0 }.values.flatMap(\.values).reduce(into: []) {
                $0.formUnion(try $1.images())
            }
        }
        var found: Set<ImageHash> = []
        var paths: Set<String> = []
        for namespace in try PrivateFile.names(in: root.path) where !namespace.hasPrefix(".") {
            for file in try files(namespace) {
                let path = root.appendingPathComponent("\(namespace)/\(file)").path
                paths.insert(path)
                found.formUnion(try images(at: path))
            }
        }
        knownImages.withLockedValue { known in known = known.filter { paths.contains($0.key) } }
        return found
    }

    /// The images of the snapshot at a path; empty if it was deleted meanwhile.
    func images(at path: String) throws -> Set<ImageHash> {
        guard let file = FileIdentity(path) else { return [] }
        if let known = knownImages.withLockedValue({ $0[path] }), known.file == file { return known.images }
        do {
            let images = try Self.read(path) { try $0.images() }
            if FileIdentity(path) == file { knownImages.withLockedValue { $0[path] = (file, images) } }
            return images
        } catch  where FileIdentity(path) == nil {
            return []
        }
    }

    /// Drops what is cached of files that no longer exist.
    func forgetImages(ofMissing paths: [String]) {
        knownImages.withLockedValue { known in
            for path in paths where FileIdentity(path) == nil { known[path] = nil }
        }
    }

    /// Runs `body`, which removes snapshots that refer to the images in `old`. The loss is recorded before and after.
    /// The record before makes a sweep in progress spare the images. The record after lets a later sweep find them
    /// for copies that began before it.
    func releasing<Value>(_ old: Set<ImageHash>, _ body: () throws -> Value) rethrows -> Value {
        images.lost(old)
        defer { images.lost(old) }
        return try body()
    }
}
