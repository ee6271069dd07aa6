import Foundation

extension FuzzTarget {
    /// The whole server, with requests over its socket.
    static let server = [
        FuzzTarget("http", maxLength: 16_384, cost: 50, prepare: { try FuzzServer.prepare(for: "http") }) { input in
            try FuzzServer.withShared { server in
                let answer = try server.send(input)
                try FuzzFinding.require(answer.isHTTP, "the answer is not HTTP: \(answer.start)")
                try FuzzFinding.require(!answer.isServerError, "\(answer.start)")
                return label(answer.start)
            }
        },
        FuzzTarget("request", maxLength: 16_384, cost: 50, prepare: { try FuzzServer.prepare(for: "request") }) {
            input in
            try FuzzServer.withShared { server in
                guard let request = FuzzRequest(input, world: server.world) else { return "not a request" }
                guard let answer = try server.ask(request) else { return "no answer" }
                try FuzzFinding.require(
                    !answer.isServerError, "\(request.method) \(request.target): \(answer.status) \(answer.start)")
                return "\(request.method) \(request.route) \(answer.status)"
            }
        },
        FuzzTarget("cursor", maxLength: 1_024, cost: 50, prepare: { try FuzzServer.prepare(for: "cursor") }) { input in
            try FuzzServer.withShared { server in
                let filled = server.world.fill(input)
                let parts = filled.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
                var statuses: [Int] = []
                for request in FuzzRequest.pages(
                    from: String(decoding: filled, as: UTF8.self),
                    parts: parts.map { String(decoding: $0, as: UTF8.self) },
                    world: server.world)
                {
                    guard let answer = try server.ask(request) else { continue }
                    try FuzzFinding.require(
                        [200, 400].contains(answer.status), "\(request.target): \(answer.status) \(answer.start)")
                    statuses.append(answer.status)
                }
                return "\(statuses)"
            }
        },
    ]
}

/// The values of the placeholders in requests: a session token, an item, a capture and a cursor.
struct FuzzWorld: Sendable {
    var token = ""
    var item = ""
    var capture = ""
    var cursor = ""

    /// The input with `{token}` and the other placeholders replaced.
    func fill(_ input: [UInt8]) -> [UInt8] {
        var filled = input
        for (name, value) in [("{token}", token), ("{item}", item), ("{capture}", capture), ("{cursor}", cursor)] {
            while let range = filled.firstRange(of: Array(name.utf8)) {
                filled.replaceSubrange(range, with: value.utf8)
            }
        }
        return filled
    }
}

/// A well-formed request that an input describes.
///
/// The first line has the method and the target, then come header fields, an empty line and the body. `{token}`, `{item}`,
/// `{capture}` and `{cursor}` stand for the values in ``FuzzWorld``.
struct FuzzRequest {
    let method: String
    let target: String
    let fields: [(name: String, value: String)]
    let body: [UInt8]

    init(_ method: String, _ target: String, _ fields: [(name: String, value: String)], body: [UInt8]) {
        (self.method, self.target, self.fields, self.body) = (method, target, fields, body)
    }

    /// `nil` if HTTP cannot carry such a request.
    init?(_ input: [UInt8], world: FuzzWorld) {
        let input = world.fill(input)
        let end = input.firstRange(of: Array("\n\n".utf8))
        let lines = input[..<(end?.lowerBound ?? input.endIndex)].split(
            separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let words = lines[0].split(separator: UInt8(ascii: " "), maxSplits: 1)
        guard words.count == 2, words[1].first == UInt8(ascii: "/"), words[1].allSatisfy({ $0 > 0x20 && $0 < 0x7f }),
            let method = Self.methods.first(where: { $0.utf8.elementsEqual(words[0]) })
        else { return nil }
        let fields = lines.dropFirst().compactMap { line -> (name: String, value: String)? in
            let parts = line.split(separator: UInt8(ascii: ":"), maxSplits: 1)
            guard parts.count == 2, parts[0].allSatisfy(Self.isNameByte),
                parts[1].allSatisfy({ $0 >= 0x20 && $0 != 0x7f })
            else { return nil }
            let name = String(decoding: parts[0], as: UTF8.self)
            return Self.ownFields.contains(name.lowercased()) ? nil : (name, String(decoding: parts[1], as: UTF8.self))
        }
        self.init(
            method, String(decoding: words[1], as: UTF8.self), fields,
            body: end.map { Array(input[$0.upperBound...]) } ?? [])
    }

    /// The requests that accept a cursor.
    static func pages(from cursor: String, parts: [String], world: FuzzWorld) -> [FuzzRequest] {
        func json(_ value: Any) -> [UInt8] {
            Array((try? JSONSerialization.data(withJSONObject: value)) ?? Data())
        }
        let escaped = cursor.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        let user = [(name: "Authorization", value: "Token \(world.token)")]
        let partner = [(name: "Authorization", value: "Token demo-api-token")]
        return [
            FuzzRequest("POST", "/sdk/search", user, body: json(["cursor": parts, "limit": 1])),
            FuzzRequest("GET", "/sdk/captures?cursor=\(escaped)", user, body: []),
            FuzzRequest("POST", "/v2/search/authentications", partner, body: json(["cursor": cursor, "limit": 1])),
        ]
    }

    /// The target without ids and query.
    var route: String {
        let path = target.prefix { $0 != "?" }
        return path.split(separator: "/").prefix(5).map { part in
            part.utf8.count > 16 || part.utf8.contains(UInt8(ascii: "%")) ? "…" : String(part)
        }.joined(separator: "/")
    }

    /// The bytes to send.
    var bytes: [UInt8] {
        var head = "\(method) \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        for (name, value) in fields { head += "\(name): \(value)\r\n" }
        if !body.isEmpty { head += "Content-Length: \(body.count)\r\n" }
        return Array((head + "\r\n").utf8) + body
    }

    private static let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]
    /// Header fields that every request has anyway.
    private static let ownFields: Set = [
        "host", "content-length", "transfer-encoding", "connection", "expect", "upgrade",
    ]

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: "-"), UInt8(ascii: "_"): true
        default: false
        }
    }
}

/// The beginning of a server's answer.
struct FuzzAnswer {
    let status: Int
    /// The status line and the first bytes of the body.
    let start: String
    let isFault: Bool

    /// `nil` if the bytes do not begin with the head of an answer.
    init(_ bytes: [UInt8]) {
        let text = String(decoding: bytes.prefix(4_096), as: UTF8.self)
        let line = text.prefix { $0 != "\r\n" }
        let words = line.split(separator: " ")
        status = words.count > 1 && words[0].hasPrefix("HTTP/1.") ? Int(words[1]) ?? 0 : 0
        isFault = text.lowercased().contains("x-sim-fault:")
        let body = text.firstRange(of: "\r\n\r\n").map { text[$0.upperBound...].prefix(300) } ?? ""
        start = bytes.isEmpty ? "" : "\(line) \(body)"
    }

    /// Whether this is a valid answer, or the connection was closed without one.
    var isHTTP: Bool { start.isEmpty || (100...599).contains(status) }
    /// Whether this is a 5xx that no fault rule caused.
    var isServerError: Bool { status >= 500 && !isFault }
}
