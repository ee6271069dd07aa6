import DequeModule
import NIOConcurrencyHelpers

/// The maximum numbers of held requests, and of their memory [D hold].
package struct HoldLimits: Sendable {
    package var ofNamespace = 100
    package var ofServer = 1000
    /// The bytes of the requests' bodies, and of answers that are kept.
    package var bytes = 256_000_000

    package static let standard = HoldLimits()
    /// The largest size of a body that is believed.
    static let mostAnnounced = 1_000_000_000_000
}

/// The requests of all namespaces that faults hold. Thread-safe.
///
/// In a recording or a replay only jobs change the list of a namespace, so that what is read of it has a place in the order.
package final class HeldRequests: Sendable {
    private struct State {
        /// The oldest first.
        var held: [HeldRequest] = []
        var bytes = 0
        /// For each namespace the last ones that ended, the oldest first.
        var ended: [String: Deque<(id: String, reason: String)>] = [:]
        var isStopping = false

        func held(of namespace: String) -> [HeldRequest] { held.filter { $0.namespace == namespace } }
    }

    private let limits: HoldLimits
    private let state = NIOLockedValueBox(State())

    /// The number of ended holds of a namespace for which a late release is told what ended them.
    private static let maxEnded = 1000

    package init(_ limits: HoldLimits = .standard) {
        self.limits = limits
    }

    /// Adds a request if there is room for it.
    ///
    /// - Parameter isDecided: whether a recording says that there was room.
    /// - Returns: the reason why it is not held; `nil` if it is.
    func add(_ held: HeldRequest, isDecided: Bool = false) -> HoldRefusal? {
        state.withLockedValue { state in
            if !isDecided {
                if state.isStopping { return .stopping }
                let own = state.held.count { $0.namespace == held.namespace }
                if own >= limits.ofNamespace { return .namespace }
                if state.held.count >= limits.ofServer { return .server }
                if state.bytes + held.bytes > limits.bytes { return .bytes }
            }
            state.held.append(held)
            state.bytes += held.bytes
            return nil
        }
    }

    /// Adds the memory of an answer that is kept, if there is room for it. A request that has ended needs none.
    ///
    /// - Returns: whether there is.
    func grow(_ held: HeldRequest, by bytes: Int) -> Bool {
        state.withLockedValue { state in
            guard state.held.contains(where: { $0 === held }) else { return true }
            guard state.bytes + bytes <= limits.bytes else { return false }
            state.bytes += bytes
            held.bytes += bytes
            return true
        }
    }

    func list(of namespace: String) -> [HeldRequest] {
        state.withLockedValue { $0.held(of: namespace) }
    }

    /// Ends the hold of a request, and lets it go on.
    ///
    /// - Throws: ``PlatformError/notFound(_:)`` if no request has the id, ``PlatformError/wrongState(_:_:)`` if it is held no more.
    func release(_ id: String, of namespace: String, as end: HoldEnd) throws -> HeldRequest {
        let (held, reason) = state.withLockedValue { state -> (HeldRequest?, String?) in
            guard let held = state.held(of: namespace).first(where: { $0.info.id.isIdentical(to: id) }) else {
                return (nil, state.ended[namespace]?.last { $0.id.isIdentical(to: id) }?.reason)
            }
            // Its own end may have come a moment earlier.
            let isFirst = held.close(end)
            Self.remove(held, because: held.end?.text, &state)
            return isFirst ? (held, nil) : (nil, held.end?.text)
        }
        if let held {
            held.wake(.ended)
            return held
        }
        guard let reason else {
            throw PlatformError.notFound("no request is held under the id \"\(id.excerpt)\" in this namespace")
        }
        throw PlatformError.wrongState(
            "the request is not held any more: \(reason)", because: "the hold \(id.excerpt) has ended: \(reason)")
    }

    /// Ends the holds of all requests of a namespace, and lets them go on.
    ///
    /// - Returns: the requests, the oldest first.
    @discardableResult func releaseAll(of namespace: String) -> [HeldRequest] {
        end(.released, of: namespace) { _ in true }
    }

    /// Ends the hold of a request that does not wait any more.
    ///
    /// - Returns: the end: this one, or the one that a job has made before.
    func end(_ held: HeldRequest, after wake: HeldRequest.Wake) -> HoldEnd {
        let end = held.end(after: wake)
        state.withLockedValue { Self.remove(held, because: end.text, &$0) }
        return end
    }

    /// Removes a request whose job was undone: it was never held.
    func discard(_ held: HeldRequest) {
        state.withLockedValue { Self.remove(held, because: nil, &$0) }
    }

    /// Ends the holds of the requests to earlier states of a namespace.
    ///
    /// - Parameter generation: the first state whose requests stay held.
    func endHolds(of namespace: String, before generation: Int) {
        end(.replaced, of: namespace) { $0.generation < generation }
    }

    /// Forgets the holds of a deleted namespace that have ended. Another one may have its name by now.
    func forget(_ namespace: String) {
        state.withLockedValue { if $0.held(of: namespace).isEmpty { $0.ended[namespace] = nil } }
    }

    /// Ends all waits, and holds no further request. The jobs of the requests then end the holds.
    package func stop() {
        let all = state.withLockedValue { state in
            state.isStopping = true
            return state.held
        }
        for held in all { held.wake(.stopping) }
    }

    @discardableResult
    private func end(_ end: HoldEnd, of namespace: String, if isMeant: (HeldRequest) -> Bool) -> [HeldRequest] {
        let ended = state.withLockedValue { state in
            let ended = state.held(of: namespace).filter(isMeant)
            for held in ended {
                held.close(end)
                Self.remove(held, because: held.end?.text, &state)
            }
            return ended
        }
        for held in ended { held.wake(.ended) }
        return ended
    }

    /// - Parameter reason: what a late release is told; `nil` if nothing.
    private static func remove(_ held: HeldRequest, because reason: String?, _ state: inout State) {
        guard let index = state.held.firstIndex(where: { $0 === held }) else { return }
        state.bytes -= held.bytes
        state.held.remove(at: index)
        guard let reason else { return }
        state.ended[held.namespace, default: []].append((held.info.id, reason))
        if state.ended[held.namespace, default: []].count > maxEnded { state.ended[held.namespace]?.removeFirst() }
    }

    /// The numbers of held requests and of their bytes, of all namespaces; for tests.
    package var total: (count: Int, bytes: Int) { state.withLockedValue { ($0.held.count, $0.bytes) } }
}

/// Ends the holds of a namespace whose state is replaced or deleted.
package final class HoldEnder: CommitObserver {
    private let namespace: String
    private let held: HeldRequests
    /// That of the state after the last batch; `nil` before the first.
    private let generation = NIOLockedValueBox<Int?>(nil)

    init(_ namespace: String, _ held: HeldRequests) {
        self.namespace = namespace
        self.held = held
    }

    package func committed(_ state: NamespaceState?) {
        let last = generation.withLockedValue { known in
            defer { known = state?.generation ?? known }
            return known
        }
        if let state {
            if state.generation != last { held.endHolds(of: namespace, before: state.generation) }
        } else if let last {
            held.endHolds(of: namespace, before: last + 1)
            held.forget(namespace)
        }
    }
}
