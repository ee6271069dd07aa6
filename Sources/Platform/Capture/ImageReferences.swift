import NIOConcurrencyHelpers
import Storage

/// A change in the pictures a world refers to.
enum ImageChange: Sendable {
    case added(ImageHash)
    /// Nothing in the world refers to it any more.
    case removed(ImageHash)
}

/// The pictures a namespace refers to as of its last batch, for others than its line of work.
final class ImageReferences: Sendable {
    private let store: ImageStore
    private let hashes: NIOLockedValueBox<Set<ImageHash>>

    /// - Parameter store: is told of references that go.
    init(_ hashes: Set<ImageHash>, in store: ImageStore) {
        self.hashes = NIOLockedValueBox(hashes)
        self.store = store
    }

    /// Follows what a batch changed, before its jobs are answered. The store hears of a loss before it can be seen here.
    func follow(_ state: NamespaceState) {
        let (all, changes) = state.takeImageChanges()
        if let all { replace(with: all) }
        guard !changes.isEmpty else { return }
        store.lost(changes.compactMap { if case .removed(let hash) = $0 { hash } else { nil } })
        hashes.withLockedValue { hashes in
            for change in changes {
                switch change {
                case .added(let hash): hashes.insert(hash)
                case .removed(let hash): hashes.remove(hash)
                }
            }
        }
    }

    /// Goes on with the pictures of another world, or with none.
    func replace(with others: Set<ImageHash>) {
        store.lost(hashes.withLockedValue { $0.subtracting(others) })
        hashes.withLockedValue { $0 = others }
    }

    /// Adds all of them to a set.
    func add(to used: inout Set<ImageHash>) {
        hashes.withLockedValue { used.formUnion($0) }
    }

    /// Those of some pictures that are referred to.
    func intersection(with candidates: [ImageHash]) -> [ImageHash] {
        hashes.withLockedValue { hashes in candidates.filter(hashes.contains) }
    }
}

extension Namespaces {
    /// Removes the images that nothing refers to any more, while requests are served. Asks no namespace's line of work.
    ///
    /// - Parameter isFull: whether every image is looked at, as after a process that died, and not only those that lost a reference.
    package func sweepImages(isFull: Bool = false) async {
        let images = environment.images
        guard !environment.isStopping, let sweep = images.beginSweep(isFull: isFull) else { return }
        await images.copiesEnded(before: sweep)
        let (open, closing) = openAndClosing
        // The images they give up are known when they are gone.
        for task in closing { try? await task.value }
        let snapshots = environment.snapshots
        // If a snapshot cannot be read, its images are unknown, so nothing is removed.
        var used = try? await environment.copying { try snapshots.allImages() }
        for namespace in open {
            if let candidates = sweep.candidates {
                used?.formUnion(namespace.images.intersection(with: candidates))
            } else if used != nil {
                namespace.images.add(to: &used!)
            }
        }
        let known = environment.isStopping ? nil : used
        do {
            try await environment.threads.runIfActive { images.endSweep(sweep, used: known) }
        } catch {
            // The server is stopping; what was not removed is found at the next start.
            images.endSweep(sweep, used: nil)
        }
    }
}

extension Environment {
    /// Does something that copies references to images from one owner to another: from a namespace to a snapshot, or back.
    func copyingImages<Value>(_ body: () async throws -> Value) async rethrows -> Value {
        let copy = images.beginCopy()
        defer { images.endCopy(copy) }
        return try await body()
    }
}
