import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// Resolves host names.
///
/// Uses threads of its own: a name server that does not answer blocks them for many seconds, which stops no job.
final class Resolver: Sendable {
    /// The maximum number of names that are resolved at a time.
    private static let maxConcurrent = 16
    private let threads = NIOThreadPool(numberOfThreads: maxConcurrent)
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

    /// All addresses of a host name, at least one.
    ///
    /// - Throws: ``Failed``, also if the deadline passes before the name server answers.
    func addresses(of host: String, until deadline: NIODeadline) async throws -> [String] {
        try await withCheckedThrowingContinuation { continuation in
            let waiting = NIOLockedValueBox<CheckedContinuation<[String], any Error>?>(continuation)
            let finish: @Sendable (Result<[String], any Error>) -> Void = { result in
                let continuation = waiting.withLockedValue { waiting in
                    defer { waiting = nil }
                    return waiting
                }
                continuation?.resume(with: result)
            }
            let timer = MultiThreadedEventLoopGroup.singleton.any().scheduleTask(deadline: deadline) {
                finish(.failure(Failed(text: "\(host) cannot be resolved: no name server answered in time")))
            }
            threads.submit { [self] state in
                guard case .active = state else { return finish(.failure(Failed(text: "the server is stopping"))) }
                // Many may have waited for a thread longer than they could.
                guard waiting.withLockedValue({ $0 != nil }) else { return }
                let result = Result { try self.lookUp(host) }
                timer.cancel()
                finish(result)
            }
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
