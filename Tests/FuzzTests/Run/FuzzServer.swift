import Foundation
import Logging
import NIOConcurrencyHelpers
import SimulationAPI

@testable import Entrupy
@testable import Server
@testable import Simulation

/// The whole server in this process, in memory, with objects that requests can name.
struct FuzzServer: Sendable {
    private let port: Int
    private var connection: FuzzSocket
    /// The number of requests since the namespace was rebuilt.
    private var asked = 0
    /// The target of the last request.
    private var target = ""
    private(set) var world = FuzzWorld()

    /// The number of requests after which the namespace is rebuilt, so that it stays small.
    private static let resetInterval = 200
    /// The longest time that the server may be idle without an answer, in milliseconds of real time.
    private static let patience = 20_000
    /// The longest wait for a control request that may block on purpose, in milliseconds of real time.
    private static let controlPatience = 100

    private static let shared = NIOLockedValueBox<FuzzServer?>(nil)

    /// Starts this process's only server. Rebuilds its namespace for each target, and after every 200 requests.
    ///
    /// - Throws: ``FuzzFinding``, and errors of the socket.
    static func prepare(for target: String) throws {
        try shared.withLockedValue { shared in
            var server = try shared ?? FuzzServer()
            if server.target != target || server.asked >= resetInterval {
                try server.makeWorld()
                server.target = target
                server.asked = 0
            }
            shared = server
        }
    }

    /// Runs `body` with this process's only server, which ``prepare(for:)`` has started.
    static func withShared<Value: Sendable>(_ body: (inout FuzzServer) throws -> Value) throws -> Value {
        try shared.withLockedValue { shared in
            guard var server = shared else { throw FuzzFinding("the server was not started") }
            defer { shared = server }
            return try body(&server)
        }
    }

    private init() throws {
        var configuration = ServerConfiguration(
            version: "fuzz",
            namespaces: NamespacesConfiguration(
                dataDirectory: nil, durability: .process, seed: try .standard(), randomSeed: 1,
                settings: .object([
                    "rate_limits": .string("off"), "webhooks": .object(["timeout": .string("0.1s")]),
                    "journal": .object(["entries": .number(JSONNumber(100))]),
                ]),
                autoCreates: false))
        configuration.port = 0
        let server = try SimServer(configuration, logger: Logger(label: "fuzz") { _ in SwiftLogNoOpLogHandler() })
        let opened = DispatchSemaphore(value: 0)
        let url = NIOLockedValueBox("")
        Task.detached {
            do {
                try await server.run { location in
                    url.withLockedValue { $0 = location.url }
                    opened.signal()
                }
            } catch {
                fatalError("the server does not run: \(error)")
            }
        }
        opened.wait()
        port = url.withLockedValue { Int($0.split(separator: ":").last ?? "") ?? 0 }
        connection = try FuzzSocket(port: port)
    }

    /// Sends a request. Returns `nil` if the server closed the connection, or blocks because a control request asked it to.
    ///
    /// - Throws: ``FuzzFinding`` if there is no answer although the server is idle.
    mutating func ask(_ request: FuzzRequest) throws -> FuzzAnswer? {
        asked += 1
        let isControl = request.target.contains("_sim") || request.target.contains("%")
        let answer = try exchange(request, patience: isControl ? Self.controlPatience : Self.patience)
        if answer == nil {
            connection = try FuzzSocket(port: port)
            try FuzzFinding.require(isControl, "\(request.method) \(request.target): no answer")
        }
        // A fault rule that delays or breaks answers would hide the effect of the next input.
        if isControl { _ = try exchange(FuzzRequest("DELETE", "/_sim/faults", [], body: []), patience: Self.patience) }
        return answer
    }

    /// Sends raw bytes on a new connection, and then a well-formed request.
    mutating func send(_ input: [UInt8]) throws -> FuzzAnswer {
        asked += 1
        let socket = try FuzzSocket(port: port)
        socket.write(
            input + Array("\r\n\r\nGET /_sim/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8))
        let received = received(on: socket, patience: 5) { _ in false }
        _ = try exchange(FuzzRequest("DELETE", "/_sim/faults", [], body: []), patience: Self.patience)
        return FuzzAnswer(received)
    }

    private mutating func exchange(_ request: FuzzRequest, patience: Int) throws -> FuzzAnswer? {
        connection.write(request.bytes)
        var isWhole = false
        let bytes = received(on: connection, patience: patience) { bytes in
            isWhole = Self.isWhole(bytes, isHead: request.method == "HEAD")
            return isWhole
        }
        guard isWhole else {
            connection = try FuzzSocket(port: port)
            return bytes.isEmpty ? nil : FuzzAnswer(bytes)
        }
        if String(decoding: bytes.prefix(1_000), as: UTF8.self).lowercased().contains("connection: close") {
            connection = try FuzzSocket(port: port)
        }
        return FuzzAnswer(bytes)
    }

    /// The bytes received until `isEnough`, until the connection closes, or until the server was idle for `patience` milliseconds.
    private func received(on socket: FuzzSocket, patience: Int, isEnough: ([UInt8]) -> Bool) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = 0
        var used = ProcessUsage.cpuSeconds
        while rest < patience {
            if let part = socket.read(within: 5) {
                guard !part.isEmpty else { break }
                bytes += part
                if isEnough(bytes) { break }
                rest = 0
            } else {
                let now = ProcessUsage.cpuSeconds
                // Timers alone take up to this much CPU time.
                rest = now - used > 0.002 ? 0 : rest + 5
                used = now
            }
        }
        return bytes
    }

    /// Whether an answer has all the bytes that its head announces.
    private static func isWhole(_ bytes: [UInt8], isHead: Bool) -> Bool {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return false }
        let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).lowercased()
        if isHead || head.hasPrefix("http/1.1 204") || head.hasPrefix("http/1.1 304") { return true }
        if head.contains("transfer-encoding: chunked") { return bytes.suffix(5).elementsEqual("0\r\n\r\n".utf8) }
        guard let field = head.firstRange(of: "content-length: ") else { return false }
        let length = Int(head[field.upperBound...].prefix { $0.isNumber }) ?? 0
        return bytes.count - end.upperBound >= length
    }

    /// Rebuilds the namespace: a user with a session, two items, two captures, and the cursor of a search.
    private mutating func makeWorld() throws {
        // These pages are made once, at their first request; that is not the cost of an input.
        for path in ["/_sim/docs", "/_sim/console"] {
            _ = try exchange(FuzzRequest("GET", path, [], body: []), patience: Self.patience)
        }
        world = FuzzWorld()
        for name in try json("GET", "/_sim/namespaces").names(in: "namespaces") where name != "default" {
            _ = try? json("DELETE", "/_sim/namespaces/\(name)")
        }
        _ = try json("POST", "/_sim/reset")
        let partner = "demo-api-token"
        let signed = try json(
            "POST", "/v2/integrations/authorize-user", token: partner,
            #"{"sdk_authorization_request": "r", "unique_user_id": "fuzz-user", "email": "fuzz@example.com"}"#)
        let request = signed.text("signed_authorization_request")
        let login = try json("POST", "/sdk/login", #"{"signed_authorization_request": "\#(request)"}"#)
        world.token = login.text("token")
        for _ in 0..<2 {
            let made = try json(
                "POST", "/_sim/authentications", #"{"template": {"brand": "Nike", "username": "DemoOrg-fuzz-user"}}"#)
            world.item = made.texts("entrupy_ids").first ?? ""
            let capture = try json(
                "POST", "/sdk/captures", token: world.token,
                #"{"item": {"brand": "Nike", "product_category": "sneakers", "style_name": "Dunk"}}"#)
            world.capture = capture.text("capture_id")
        }
        let page = try json("POST", "/sdk/search", token: world.token, #"{"limit": 1}"#)
        world.cursor = page.texts("next_cursor").joined(separator: ".")
        try FuzzFinding.require(
            ![world.token, world.item, world.capture, world.cursor].contains(""), "the world is not whole: \(world)")
    }

    private func json(
        _ method: String, _ target: String, token: String? = nil, _ body: String = ""
    ) throws -> FuzzObject {
        let fields = token.map { [(name: "Authorization", value: "Token \($0)")] } ?? []
        connection.write(FuzzRequest(method, target, fields, body: Array(body.utf8)).bytes)
        let bytes = received(on: connection, patience: Self.patience) {
            Self.isWhole($0, isHead: false)
        }
        let start = bytes.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound ?? bytes.endIndex
        guard bytes.starts(with: "HTTP/1.1 2".utf8) else {
            throw FuzzFinding("\(method) \(target): \(String(decoding: bytes.prefix(500), as: UTF8.self))")
        }
        return FuzzObject(bytes[start...])
    }
}

/// An answer's JSON object, parsed with Foundation and not with the parser under test.
private struct FuzzObject {
    private let members: [String: Any]

    init(_ bytes: some Sequence<UInt8>) {
        members = (try? JSONSerialization.jsonObject(with: Data(bytes))) as? [String: Any] ?? [:]
    }

    func text(_ name: String) -> String { members[name] as? String ?? "" }

    func texts(_ name: String) -> [String] { members[name] as? [String] ?? [] }

    /// The names of the objects in the array `list`.
    func names(in list: String) -> [String] {
        (members[list] as? [[String: Any]] ?? []).compactMap { $0["name"] as? String }
    }
}
