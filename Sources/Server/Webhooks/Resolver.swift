import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// Resolves host names.
///
/// Uses threads of its own: a name server that does not answer blocks them for many seconds, which stops no job. A name that
/// is being looked up is not looked up again, and namespaces share the threads in fair turns: names that nobody knows delay
/// neither other names nor other namespaces.
final class Resolver: Sendable {
    /// The maximum number of names that are resolved at a time, and the maximum for one namespace.
    private static let maxConcurrent = 16
    private static let maxPerNamespace = 8
    private let threads = NIOThreadPool(numberOfThreads: maxConcurrent)
    private let state = NIOLockedValueBox(State())
    private let lookUp: @Sendable (_ host: String) throws -> [String]

    /// - Parameter lookUp: asks the name servers. Blocks.
    init(_ lookUp: @escaping @Sendable (_ host: String) throws -> [String] = { try Resolver.addresses(of: $0) }) {
        self.lookUp = lookUp
        threads.start()
    }

    /// Ends the threads. Does not wait for one that is blocked.
    func stop() {
        threads.shutdownGracefully { _ in }
    }

    /// The addresses of a host name, at least one, and the time at which the caller's own time for them began.
    typealias Answer = (addresses: [String], began: NIODeadline)

    private struct State: Sendable {
        var queue = FairQueue<(host: String, namespace: String)>(
            maxRunning: maxConcurrent, maxPerNamespace: maxPerNamespace)
        /// The callers for each name that is looked up or waits for a thread.
        var callers: [String: [Int: Caller]] = [:]
        var running: Set<String> = []
        var nextCaller = 0
    }

    private struct Caller: Sendable {
        let continuation: CheckedContinuation<Answer, any Error>
        let timeout: TimeAmount
        var began: NIODeadline?
        var timer: Scheduled<Void>?
    }

    /// All addresses of a host name. Waits for a free thread first, which does not count as time of the name servers.
    ///
    /// - Parameter timeout: the maximum time for the name servers.
    /// - Throws: ``Failed``, also if the name servers do not answer in time.
    func addresses(of host: String, within timeout: TimeAmount, for namespace: String) async throws -> Answer {
        try await withCheckedThrowingContinuation { continuation in
            state.withLockedValue { state in
                state.nextCaller += 1
                let id = state.nextCaller
                var caller = Caller(continuation: continuation, timeout: timeout)
                if state.running.contains(host) { begin(&caller, id, host) }
                if state.callers[host] == nil {
                    state.queue.add((host, namespace), namespace: namespace, subscription: host)
                }
                state.callers[host, default: [:]][id] = caller
            }
            startNext()
        }
    }

    /// Starts the time of a caller.
    private func begin(_ caller: inout Caller, _ id: Int, _ host: String) {
        caller.began = .now()
        caller.timer = MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: caller.timeout) { [self] in
            let late = state.withLockedValue { $0.callers[host]?.removeValue(forKey: id) }
            late?.continuation.resume(
                throwing: Failed(text: "\(host) cannot be resolved: no name server answered in time"))
        }
    }

    private func startNext() {
        while let next = state.withLockedValue({ $0.queue.takeNext() }) { start(next.host, for: next.namespace) }
    }

    private func start(_ host: String, for namespace: String) {
        state.withLockedValue { state in
            state.running.insert(host)
            state.callers[host] = state.callers[host]?.reduce(into: [:]) { begun, entry in
                var caller = entry.value
                begin(&caller, entry.key, host)
                begun[entry.key] = caller
            }
        }
        threads.submit { [self] status in
            let result = Result {
                guard case .active = status else { throw Failed(text: "the server is stopping") }
                return try lookUp(host)
            }
            let callers = state.withLockedValue { state in
                state.queue.end(namespace: namespace, subscription: host)
                state.running.remove(host)
                return state.callers.removeValue(forKey: host) ?? [:]
            }
            for caller in callers.values {
                caller.timer?.cancel()
                caller.continuation.resume(with: result.map { ($0, caller.began ?? .now()) })
            }
            startNext()
        }
    }

    struct Failed: Error {
        let text: String
    }

    /// All addresses of a host name, at least one. Blocks.
    private static func addresses(of host: String) throws -> [String] {
        var found: UnsafeMutablePointer<addrinfo>?
        var hints = addrinfo()
        #if canImport(Glibc)
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
            hints.ai_socktype = SOCK_STREAM
        #endif
        let code = getaddrinfo(host, nil, &hints, &found)
        defer { if let found { freeaddrinfo(found) } }
        guard code == 0 else {
            throw Failed(text: "\(host) cannot be resolved: \(String(cString: gai_strerror(code)))")
        }
        var addresses: [String] = []
        var next = found
        while let info = next {
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            if getnameinfo(
                info.pointee.ai_addr, info.pointee.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
                == 0
            {
                addresses.append(String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
            }
            next = info.pointee.ai_next
        }
        guard !addresses.isEmpty else { throw Failed(text: "\(host) has no address") }
        return addresses
    }
}
