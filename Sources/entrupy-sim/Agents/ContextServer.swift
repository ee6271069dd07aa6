import Foundation
import SimulationAPI

/// The tools as a server of the Model Context Protocol, whichever transport brings the messages.
///
/// It keeps nothing between two messages: each request of the version of 2026-07-28 says its version in `_meta`, and the versions
/// before begin with `initialize`, which changes nothing here. See <https://modelcontextprotocol.io/specification>.
struct ContextServer: Sendable {
    let tools: [AgentTool]
    let simulator: AgentSimulator

    /// The version in which every request stands alone.
    static let version = "2026-07-28"
    /// The version before, which begins with `initialize`. A client of an older one gets it as the offer that it may refuse.
    static let versionBefore = "2025-11-25"
    /// The maximum size of a message, in bytes.
    static let maxBytes = 4_000_000

    private static let versionKey = "io.modelcontextprotocol/protocolVersion"
    private static let capabilitiesKey = "io.modelcontextprotocol/clientCapabilities"
    private static let serverKey = "io.modelcontextprotocol/serverInfo"

    private static let instructions = """
        The Entrupy platform as a simulator. Begin with start_case: it makes a namespace, with data, limits and a clock of its own, and \
        says at which URL and with which token the code under test reaches it. A back end reads items, which start_case makes (items); \
        an app captures and submits its own. Then run that code, and see with what_happened what it asked and what followed; a \
        submission sends a webhook too, before that of its result. Time is the namespace's clock: results, time-outs and webhook retries come when move_clock reaches \
        them. why explains one request or item, check judges all, drop ends the case.
        """

    /// Whether a request is one of the version in which every request stands alone.
    static func isModern(_ request: ContextRequest) -> Bool { version(of: request) != nil }

    /// The version that a request names in `_meta`; `nil` if it names none.
    static func version(of request: ContextRequest) -> JSONValue? { request.params["_meta"]?.members?[versionKey] }

    func answer(_ request: ContextRequest) async -> ContextReply {
        do {
            let isModern = Self.isModern(request)
            if isModern { try Self.check(request) }
            let result = try await result(request, isModern: isModern)
            return ContextReply(id: request.id, result: .success(isModern ? Self.stamped(result) : .object(result)))
        } catch let error as ContextError {
            return ContextReply(id: request.id, result: .failure(error))
        } catch {
            return ContextReply(id: request.id, result: .failure(ContextError(.internalError, "\(error)")))
        }
    }

    /// Checks what every request of the newest version has in `_meta`.
    private static func check(_ request: ContextRequest) throws {
        let meta = request.params["_meta"]?.members
        guard let version = meta?[versionKey]?.text else {
            throw ContextError(.invalidParams, "params._meta.\(versionKey) must be a text such as \"\(Self.version)\"")
        }
        guard version.isIdentical(to: Self.version) else {
            throw ContextError(
                .unsupportedVersion, "the protocol version \(version) is not supported",
                data: ["supported": [.string(Self.version)], "requested": .string(version)])
        }
        guard meta?[capabilitiesKey]?.members != nil else {
            throw ContextError(.invalidParams, "params._meta.\(capabilitiesKey) must be an object")
        }
    }

    private func result(_ request: ContextRequest, isModern: Bool) async throws -> JSONObject {
        switch request.method {
        case "initialize" where !isModern: return try initialized(request.params)
        case "ping" where !isModern: return JSONObject()
        case "server/discover":
            return [
                "supportedVersions": [.string(Self.version)], "capabilities": Self.capabilities,
                "instructions": .string(Self.instructions), "ttlMs": 3_600_000, "cacheScope": "public",
            ]
        case "tools/list":
            var result: JSONObject = ["tools": .array(tools.map(\.declaration))]
            if isModern {
                result["ttlMs"] = 3_600_000
                result["cacheScope"] = "public"
            }
            return result
        case "tools/call": return try await called(request.params)
        default:
            throw ContextError(
                .methodNotFound,
                "there is no method \(request.method.prefix(100)); this server has tools/list and tools/call")
        }
    }

    private static let capabilities: JSONValue = ["tools": ["listChanged": false]]

    private static let serverInfo: JSONValue = [
        "name": "entrupy-sim", "title": "Entrupy simulator", "version": .string(Release.version),
    ]

    private func initialized(_ params: JSONObject) throws -> JSONObject {
        guard params["protocolVersion"]?.text != nil else {
            throw ContextError(.invalidParams, "protocolVersion must be a text such as \"\(Self.versionBefore)\"")
        }
        return [
            "protocolVersion": .string(Self.versionBefore), "capabilities": Self.capabilities,
            "serverInfo": Self.serverInfo,
            "instructions": .string(Self.instructions),
        ]
    }

    private static func stamped(_ result: JSONObject) -> JSONValue {
        var result = result
        result["resultType"] = "complete"
        result["_meta"] = [serverKey: serverInfo]
        return .object(result)
    }

    private func called(_ params: JSONObject) async throws -> JSONObject {
        guard let name = params["name"]?.text else {
            throw ContextError(.invalidParams, "name must be the name of a tool")
        }
        guard let tool = tools.first(where: { $0.name.isIdentical(to: name) }) else {
            let names = tools.map(\.name)
            let guess = NearestName.nearest(to: name, among: names).map { "did you mean \($0)? " } ?? ""
            throw ContextError(
                .invalidParams,
                "there is no tool \"\(name.prefix(100))\"; \(guess)the tools are \(names.joined(separator: ", "))")
        }
        let arguments = params["arguments"] ?? [:]
        guard case .object(let given) = arguments else {
            throw ContextError(.invalidParams, "arguments must be an object, got \(arguments.typeName)")
        }
        return await tool.called(given, simulator)
    }
}
