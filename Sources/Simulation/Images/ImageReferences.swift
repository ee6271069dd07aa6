import NIOConcurrencyHelpers
import Storage

/// A change in the images a namespace refers to.
package enum ImageChange: Sendable {
    case added(ImageHash)
    /// The namespace's last reference to it is gone.
    case removed(ImageHash)
}

/// The images a namespace refers to, as of its last batch of jobs. A sweep spares them. Thread-safe.
package final class ImageReferences: CommitObserver {
    private let store: ImageStore
    private let hashes: NIOLockedValueBox<Set<ImageHash>>

    /// - Parameter store: is notified when references are removed.
    package init(_ hashes: Set<ImageHash>, in store: ImageStore) {
        self.hashes = NIOLockedValueBox(hashes)
        self.store = store
    }

    /// Applies the changes of a batch, before its jobs are answered. The store is notified of lost references before
    /// they disappear here.
    package func committed(_ state: NamespaceState?) {
        guard let state else { return }
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

    /// Replaces all references, for instance after a reset or a restore.
    package func replace(with others: Set<ImageHash>) {
        store.lost(hashes.withLockedValue { $0.subtracting(others) })
        hashes.withLockedValue { $0 = others }
    }

    /// Adds the namespace's images to a set.
    package func add(to used: inout Set<ImageHash>) {
        hashes.withLockedValue { used.formUnion($0) }
    }

    /// The images among `candidates` that the namespace refers to.
    package func intersection(with candidates: [ImageHash]) -> [ImageHash] {
        hashes.withLockedValue { hashes in candidates.filter(hashes.contains) }
    }
}

extension Namespaces {
    /// Removes the images that nothing refers to any more, while requests are served [D images-given-up]. Runs
    /// outside the namespaces' jobs.
    ///
    /// - Parameter isFull: whether every image is checked, as after a crash. Otherwise only images that lost a
    ///   reference are.
    package func sweepImages(isFull: Bool = false) async {
        let images = environment.images
        guard !environment.isStopping, let sweep = images.beginSweep(isFull: isFull) else { return }
        await images.copiesEnded(before: sweep)
        let (open, closing) = openAndClosing
        // A namespace that is closing has released its images only once it is gone.
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
        // Nor are the images of a namespace that cannot be opened known. Its file may be repaired.
        let known = environment.isStopping || !environment.damaged.list.isEmpty ? nil : used
        do {
            try await environment.threads.runIfActive { images.endSweep(sweep, used: known) }
        } catch {
            // The server is stopping. The next start finds what was not removed.
            images.endSweep(sweep, used: nil)
        }
    }
}

extension Environment {
    /// Runs code that copies references to images, from a namespace to a snapshot or back. No sweep removes images
    /// meanwhile.
    package func copyingImages<Value>(_ body: () async throws -> Value) async rethrows -> Value {
        let copy = images.beginCopy()
        defer { images.endCopy(copy) }
        return try await body()
    }
}
