#if canImport(FoundationNetworking) && canImport(Glibc)
    import Foundation
    import FoundationNetworking

    /// One exchange over HTTP/1.1 without encryption, on a thread of its own. It reads no more than its receiver takes, which
    /// blocks the thread meanwhile.
    ///
    /// URLSession on Linux cannot do that: see ``BoundedRequest``. It stays in use for https.
    final class PlainExchange: @unchecked Sendable {
        /// The head of an answer.
        struct Head: Sendable {
            let status: Int
            /// The fields in their order, the names in lower case.
            let fields: [(name: String, value: String)]

            func value(_ name: String) -> String? { fields.last { $0.name == name }?.value }
        }

        private let request: URLRequest
        private let receiver: BoundedRequest
        private let lock = NSLock()
        // The lock guards these.
        private var socket: Int32 = -1
        private var isCancelled = false
        // Only the thread uses these. The bytes from `start` on are not taken yet.
        private var buffer: [UInt8] = []
        private var start = 0

        /// The maximum size of a head, or of one line of a body in parts.
        private static let maxHead = 65_536

        init(_ request: URLRequest, _ receiver: BoundedRequest) {
            self.request = request
            self.receiver = receiver
        }

        func begin() {
            Thread.detachNewThread { [self] in
                var problem: (any Error)?
                do { try exchange() } catch { problem = error }
                lock.withLock {
                    if socket >= 0 { Foundation.close(socket) }
                    socket = -1
                }
                receiver.finish(problem)
            }
        }

        /// Ends the exchange. The receiver still hears of its end.
        func cancel() {
            lock.withLock {
                isCancelled = true
                if socket >= 0 { shutdown(socket, Int32(SHUT_RDWR)) }
            }
        }

        private func exchange() throws {
            guard let url = request.url, let host = url.host else { throw URLError(.badURL) }
            try connect(to: host, port: url.port ?? 80)
            // A server may refuse a body before it has it, so its answer is read in any case.
            let sending = Result { try send(requestBytes(for: url, host)) }
            var head = try readHead(sending)
            // A head of 1xx is not the answer's.
            while (100..<200).contains(head.status) { head = try readHead(sending) }
            guard receiver.takeHead(head), request.httpMethod != "HEAD", ![204, 304].contains(head.status) else {
                return
            }
            if head.value("transfer-encoding")?.lowercased().hasSuffix("chunked") == true { return try readParts() }
            guard let length = head.value("content-length") else { return try readToEnd() }
            guard let count = Int(length), count >= 0 else { throw URLError(.badServerResponse) }
            _ = try pass(count)
        }

        // MARK: The connection

        private func connect(to host: String, port: Int) throws {
            var hints = addrinfo()
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
            var list: UnsafeMutablePointer<addrinfo>?
            let name = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
            guard getaddrinfo(name, "\(port)", &hints, &list) == 0 else { throw URLError(.cannotFindHost) }
            defer { freeaddrinfo(list) }
            var next = list
            while let address = next?.pointee {
                if try isConnected(to: address) { return }
                next = address.ai_next
            }
            throw URLError(.cannotConnectToHost)
        }

        private func isConnected(to address: addrinfo) throws -> Bool {
            let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
            let made = Foundation.socket(address.ai_family, kind, 0)
            guard made >= 0 else { return false }
            let isWanted = lock.withLock {
                if !isCancelled { socket = made }
                return !isCancelled
            }
            guard isWanted else {
                Foundation.close(made)
                throw CancellationError()
            }
            var problem: Int32 = 0
            if Foundation.connect(made, address.ai_addr, address.ai_addrlen) != 0 {
                problem = errno
                if problem == EINPROGRESS {
                    try wait(for: POLLOUT)
                    var size = socklen_t(MemoryLayout<Int32>.size)
                    getsockopt(made, SOL_SOCKET, SO_ERROR, &problem, &size)
                }
            }
            guard problem != 0 else { return true }
            lock.withLock { socket = -1 }
            Foundation.close(made)
            return false
        }

        /// Waits until the socket can be read or written, or the exchange is cancelled.
        private func wait(for events: Int32) throws {
            var waiting = pollfd(fd: socket, events: Int16(events), revents: 0)
            while true {
                if lock.withLock({ isCancelled }) { throw CancellationError() }
                // A shutdown wakes it. The time is for one that came just before.
                if poll(&waiting, 1, 1000) > 0 { return }
            }
        }

        // MARK: The request

        private func requestBytes(for url: URL, _ host: String) -> Data {
            let parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
            let path = (parts?.percentEncodedPath).flatMap { $0.isEmpty ? nil : $0 } ?? "/"
            let query = parts?.percentEncodedQuery.map { "?\($0)" } ?? ""
            let shownHost = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
            var lines = ["\(request.httpMethod ?? "GET") \(path)\(query) HTTP/1.1"]
            lines.append("Host: \(shownHost)\(url.port.map { ":\($0)" } ?? "")")
            for (name, value) in (request.allHTTPHeaderFields ?? [:]).sorted(by: { $0.key < $1.key }) {
                // Neither has a line end: a value with one would add fields of its own.
                lines.append("\(name): \(value)".replacing(#/[\r\n]/#, with: " "))
            }
            if request.value(forHTTPHeaderField: "Accept") == nil { lines.append("Accept: */*") }
            lines += ["Accept-Encoding: identity", "Connection: close"]
            let body = request.httpBody ?? Data()
            if !body.isEmpty || ["POST", "PUT", "PATCH"].contains(request.httpMethod) {
                lines.append("Content-Length: \(body.count)")
            }
            return Data((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body
        }

        private func send(_ bytes: Data) throws {
            var rest = bytes[...]
            while !rest.isEmpty {
                try wait(for: POLLOUT)
                let count = rest.withUnsafeBytes {
                    Foundation.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                if count > 0 {
                    rest = rest.dropFirst(count)
                } else if errno != EAGAIN, errno != EINTR {
                    throw URLError(.networkConnectionLost)
                }
            }
        }

        // MARK: The answer

        /// Reads more bytes.
        ///
        /// - Returns: `false` at the end.
        private func read() throws -> Bool {
            var part = [UInt8](repeating: 0, count: 65_536)
            while true {
                try wait(for: POLLIN)
                let count = recv(socket, &part, part.count, 0)
                if count > 0 {
                    buffer.removeFirst(start)
                    start = 0
                    buffer += part[..<count]
                    return true
                }
                if lock.withLock({ isCancelled }) { throw CancellationError() }
                if count == 0 { return false }
                if errno != EAGAIN, errno != EINTR { throw URLError(.networkConnectionLost) }
            }
        }

        /// The next line without its end.
        private func line() throws -> String {
            while true {
                if let end = buffer[start...].firstIndex(of: 0x0a) {
                    let line = buffer[start..<end]
                    start = end + 1
                    return String(decoding: line.last == 0x0d ? line.dropLast() : line, as: UTF8.self)
                }
                guard buffer.count - start < Self.maxHead else { throw URLError(.badServerResponse) }
                guard try read() else { throw URLError(.networkConnectionLost) }
            }
        }

        private func readHead(_ sending: Result<Void, any Error>) throws -> Head {
            let first: String
            do {
                first = try line()
            } catch {
                // The reason is the one for which the request was not sent.
                try sending.get()
                throw error
            }
            guard let match = first.wholeMatch(of: #/HTTP/1\.[01] ([1-9][0-9][0-9])( .*)?/#), let status = Int(match.1)
            else { throw URLError(.badServerResponse) }
            var (fields, bytes): ([(name: String, value: String)], Int) = ([], 0)
            while true {
                let line = try line()
                if line.isEmpty { return Head(status: status, fields: fields) }
                bytes += line.utf8.count
                guard bytes <= Self.maxHead, let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) else {
                    throw URLError(.badServerResponse)
                }
                let value = line[line.utf8.index(after: colon)...].trimmingCharacters(in: .whitespaces)
                fields.append((line[..<colon].lowercased(), value))
            }
        }

        /// Hands bytes of the body to the receiver.
        ///
        /// - Returns: `false` if it wants no more.
        private func pass(_ count: Int) throws -> Bool {
            var left = count
            while left > 0 {
                if start == buffer.count, try !read() { throw URLError(.networkConnectionLost) }
                let part = Data(buffer[start...].prefix(left))
                start += part.count
                left -= part.count
                guard receiver.take(part) else { return false }
            }
            return true
        }

        private func readParts() throws {
            while true {
                let size = try line().prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces)
                guard let count = Int(size, radix: 16), count >= 0 else { throw URLError(.badServerResponse) }
                if count == 0 {
                    while try !line().isEmpty {}
                    return
                }
                guard try pass(count) else { return }
                guard try line().isEmpty else { throw URLError(.badServerResponse) }
            }
        }

        private func readToEnd() throws {
            repeat {
                let part = Data(buffer[start...])
                start = buffer.count
                if !part.isEmpty, !receiver.take(part) { return }
            } while try read()
        }
    }
#endif
