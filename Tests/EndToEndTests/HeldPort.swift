import Foundation
import NIOCore
import Testing

/// A port at which only the server of one test can answer, on any loopback address.
///
/// The test binds it without listening: connections are refused, the system gives it to nobody who asks for any free port, and a
/// server that asks for this one gets it.
struct HeldPort {
    let number: Int
    /// The options that give a server this port.
    var options: [String] { ["--port", String(number)] }
    private let descriptors: [CInt]

    init() throws {
        for _ in 1...100 {
            let first = try #require(Self.bind("127.0.0.1", port: 0))
            let number = try #require(Self.port(of: first))
            guard hasAddress("::1") else {
                (self.number, descriptors) = (number, [first])
                return
            }
            if let second = Self.bind("::1", port: number) {
                (self.number, descriptors) = (number, [first, second])
                return
            }
            // A server listens there.
            close(first)
        }
        throw POSIXError(.EADDRINUSE)
    }

    func release() { for descriptor in descriptors { close(descriptor) } }

    /// A socket that does not listen; `nil` if the address is taken.
    private static func bind(_ address: String, port: Int) -> CInt? {
        guard let address = try? SocketAddress(ipAddress: address, port: port) else { return nil }
        #if canImport(Glibc)
            let type = Int32(SOCK_STREAM.rawValue)
        #else
            let type = SOCK_STREAM
        #endif
        let descriptor = socket(address.protocol == .inet6 ? AF_INET6 : AF_INET, type, 0)
        guard descriptor >= 0 else { return nil }
        // The processes that a test starts must not hold the port too.
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var shares: CInt = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &shares, socklen_t(MemoryLayout<CInt>.size))
        let result = address.withSockAddr { Foundation.bind(descriptor, $0, socklen_t($1)) }
        if result == 0 { return descriptor }
        close(descriptor)
        return nil
    }

    private static func port(of descriptor: CInt) -> Int? {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        return result == 0 ? Int(in_port_t(bigEndian: address.sin_port)) : nil
    }
}
