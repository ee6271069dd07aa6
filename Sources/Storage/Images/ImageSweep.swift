import Foundation
import NIOConcurrencyHelpers

/// One look at pictures that may have lost their last reference.
///
/// A picture goes only if no owner (a namespace, a snapshot) refers to it, no request holds it, and nothing about it has changed
/// since the sweep began: no upload has brought it again, and no owner has given it up. The last rule is what makes copies safe. A
/// copy takes references from an owner and shows them only when it is whole, so a picture that its source gives up meanwhile seems
/// to have none. Copies that began before the sweep are waited for; of those that began later the source has been asked, or has given
/// the picture up since the sweep began.
package struct ImageSweep: Sendable {
    /// Pictures that lost a reference; nil: all there are.
    package let candidates: [ImageHash]?
    /// When it began, by the store's own count of events.
    let began: Int
}

extension ImageStore {
    /// Notes that an owner no longer refers to pictures. Called before others can see that it does not, and again after that where
    /// the two differ.
    package func lost(_ hashes: some Collection<ImageHash>) {
        guard !hashes.isEmpty else { return }
        state.withLockedValue { state in
            state.events += 1
            for hash in hashes { state.lost[hash] = state.events }
        }
    }

    /// Begins to copy references from one owner to another; pictures that are in the copy stay until ``endCopy(_:)``.
    ///
    /// - Returns: the copy's number.
    package func beginCopy() -> Int {
        state.withLockedValue { state in
            state.events += 1
            state.copies.insert(state.events)
            return state.events
        }
    }

    /// Ends a copy: its references can be seen in their new owner, or it came to nothing.
    package func endCopy(_ number: Int) {
        let ready = state.withLockedValue { state in
            state.copies.remove(number)
            let first = state.copies.min() ?? .max
            defer { state.waiting.removeAll { $0.number < first } }
            return state.waiting.filter { $0.number < first }
        }
        for (_, continuation) in ready { continuation.resume() }
    }

    /// Waits until the copies are over that began before a sweep.
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

    /// Begins a sweep. From now on, and until ``endSweep(_:used:)``, pictures that come are remembered, and those that are on
    /// their way: their jobs may run after the owners were asked.
    ///
    /// - Parameter isFull: whether every picture is looked at, and not only those that lost a reference.
    /// - Returns: nil if there is nothing to look at, or another sweep is under way.
    package func beginSweep(isFull: Bool) -> ImageSweep? {
        state.withLockedValue { state in
            guard state.touched == nil, isFull || !state.lost.isEmpty else { return nil }
            state.touched = Set(state.held.keys)
            state.events += 1
            return ImageSweep(candidates: isFull ? nil : Array(state.lost.keys), began: state.events)
        }
    }

    /// Removes the pictures a sweep looked at that are not in use. Blocks.
    ///
    /// - Parameter used: those that an owner refers to; nil if that is not known, and nothing is removed.
    package func endSweep(_ sweep: ImageSweep, used: Set<ImageHash>?) {
        defer { state.withLockedValue { $0.touched = nil } }
        guard let used else { return }
        guard let candidates = sweep.candidates else { return sweepAll(sweep, used) }
        for hash in candidates {
            if used.contains(hash) {
                forgetLoss(of: hash, sweep)
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
        for folder in (try? FileManager.default.contentsOfDirectory(atPath: root.path)) ?? [] {
            let path = root.appendingPathComponent(folder).path
            for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] {
                // A file that was being written when a process died has a longer name.
                guard let hash = ImageHash(String(name.prefix(64))), name.utf8.count > 64 || !used.contains(hash)
                else { continue }
                remove(name, hash, sweep)
            }
        }
    }

    /// Forgets that a picture lost a reference, unless it lost another since the sweep began.
    private func forgetLoss(of hash: ImageHash, _ sweep: ImageSweep) {
        state.withLockedValue { if $0.lost[hash, default: 0] <= sweep.began { $0.lost[hash] = nil } }
    }

    /// Removes a picture that has no reference, unless something about it has changed since the sweep began.
    private func remove(_ name: String, _ hash: ImageHash, _ sweep: ImageSweep) {
        state.withLockedValue { state in
            let sha256 = hash.text
            guard state.held[sha256] == nil, state.touched?.contains(sha256) != true,
                state.lost[hash, default: 0] <= sweep.began
            else { return }
            // A file that was being written is not the picture itself.
            if name.utf8.count == sha256.utf8.count { state.lost[hash] = nil }
            if let root {
                unlink(root.appendingPathComponent("\(name.prefix(2))/\(name)").path)
            } else {
                state.memory[name] = nil
            }
        }
    }
}
