import Foundation
import NIOConcurrencyHelpers

/// A search for images that have lost their last reference.
///
/// A sweep removes an image only under these conditions:
/// - No owner (a namespace or a snapshot) refers to it.
/// - No request holds it.
/// - Nothing about it has changed since the sweep began: no upload has stored it again, and no owner has released it.
///
/// The last condition makes copies safe. A copy takes references from an owner, and shows them only when it is
/// complete. If the source releases an image meanwhile, the image seems to have no reference. So a sweep waits for
/// copies that began before it. For a copy that began later, the sweep has asked the source, or the source has
/// released the image since the sweep began.
package struct ImageSweep: Sendable {
    /// The images that lost a reference; `nil` to check all images.
    package let candidates: [ImageHash]?
    /// The event number of the sweep's beginning.
    let began: Int
}

extension ImageStore {
    /// Records that an owner no longer refers to images. Call it before this becomes visible to others, and again
    /// afterwards if the two moments differ.
    package func lost(_ hashes: some Collection<ImageHash>) {
        guard !hashes.isEmpty else { return }
        state.withLockedValue { state in
            state.events += 1
            for hash in hashes { state.lost[hash] = state.events }
        }
    }

    /// Begins a copy of references from one owner to another. Images in the copy stay until ``endCopy(_:)``.
    ///
    /// - Returns: the copy's number.
    package func beginCopy() -> Int {
        state.withLockedValue { state in
            state.events += 1
            state.copies.insert(state.events)
            return state.events
        }
    }

    /// Ends a copy: its references are visible in their new owner, or the copy failed.
    package func endCopy(_ number: Int) {
        let ready = state.withLockedValue { state in
            state.copies.remove(number)
            let first = state.copies.min() ?? .max
            defer { state.waiting.removeAll { $0.number < first } }
            return state.waiting.filter { $0.number < first }
        }
        for (_, continuation) in ready { continuation.resume() }
    }

    /// Waits until all copies that began before a sweep have ended.
    package func copiesEnded(before sweep: ImageSweep) async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLockedValue { state in
                guard let first = state.copies.min(), first < sweep.began else { return true }
                state.waiting.append((sweep.began, continuation))
                return false
            }
            if isOver { continuation.resume() }
        }
    }

    /// Begins a sweep. Until ``endSweep(_:used:)``, images that are added or held are recorded and spared. That
    /// includes those held now, because their jobs may run after the owners were asked.
    ///
    /// - Parameter isFull: whether all images are checked, not only those that lost a reference.
    /// - Returns: `nil` if there is nothing to check, or another sweep is in progress.
    package func beginSweep(isFull: Bool) -> ImageSweep? {
        state.withLockedValue { state in
            guard state.touched == nil, isFull || !state.lost.isEmpty else { return nil }
            state.touched = Set(state.held.keys)
            state.events += 1
            return ImageSweep(candidates: isFull ? nil : Array(state.lost.keys), began: state.events)
        }
    }

    /// Removes the images of a sweep that are not in use. Blocks.
    ///
    /// - Parameter used: the images that an owner refers to; `nil` if that is unknown, and no image is removed.
    package func endSweep(_ sweep: ImageSweep, used: Set<ImageHash>?) {
        defer { state.withLockedValue { $0.touched = nil } }
        guard let used else { return }
        guard let candidates = sweep.candidates else { return sweepAll(sweep, used) }
        for hash in candidates {
            if used.contains(hash) {
                // An image that is used may have lost another reference since the sweep began.
                state.withLockedValue { if $0.lost[hash, default: 0] <= sweep.began { $0.lost[hash] = nil } }
            } else {
                remove(hash.text, hash, sweep)
            }
        }
    }

    private func sweepAll(_ sweep: ImageSweep, _ used: Set<ImageHash>) {
        guard let root else {
            for name in state.withLockedValue({ Array($0.memory.keys) }) {
                if let hash = ImageHash(name), !used.contains(hash) { remove(name, hash, sweep) }
            }
            return
        }
        // A folder that cannot be read, or is a link, keeps what it has.
        for folder in (try? PrivateFile.names(in: root.path)) ?? [] {
            let path = root.appendingPathComponent(folder).path
            // So does one within it.
            for name in (try? PrivateFile.names(in: path)) ?? [] {
                // A file left unfinished by an earlier process has a longer name.
                guard let hash = ImageHash(String(name.prefix(64))), name.utf8.count > 64 || !used.contains(hash)
                else { continue }
                remove(name, hash, sweep)
            }
        }
    }

    /// Removes an image without a reference, unless something about it has changed since the sweep began.
    private func remove(_ name: String, _ hash: ImageHash, _ sweep: ImageSweep) {
        state.withLockedValue { state in
            let sha256 = hash.text
            guard state.held[sha256] == nil, state.touched?.contains(sha256) != true,
                state.lost[hash, default: 0] <= sweep.began
            else { return }
            // An unfinished file is not the image itself.
            if name.utf8.count == sha256.utf8.count { state.lost[hash] = nil }
            if let root {
                unlink(root.appendingPathComponent("\(name.prefix(2))/\(name)").path)
            } else {
                state.memory[name] = nil
            }
        }
    }
}
