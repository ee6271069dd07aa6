import EntrupyAPI
import Simulation

/// Commands that meet the documented answers. What follows from a status alone is made here; the platforms give the others.
struct AnswerLines: Sendable {
    private let platforms: Platforms
    private let own: Lazily<[String: String]>

    init(_ platforms: Platforms) {
        self.platforms = platforms
        own = Lazily {
            platforms.all.reduce(into: [:]) { $0.merge($1.evidence.answerCommands()) { first, _ in first } }
        }
    }

    func line(_ operation: DescribedAnswers.Operation, _ status: Int) -> String {
        if let line = own.value["\(operation.method) \(operation.path) \(status)"] { return line }
        let path = Self.filled(operation.path, with: "unknown-1")
        let caller = platforms.all.lazy.compactMap { $0.evidence.curlOptions(operation.path) }.first ?? ""
        func call(_ options: String, json: String? = nil) -> String {
            CurlLine.call(operation.method, path, caller, options, json: json)
        }
        switch status {
        case 400: return call("", json: "{")
        case 401: return CurlLine.call(operation.method, path)
        case 403 where operation.path.hasPrefix("/sdk/"): return ended(operation, path, caller)
        case 403: return CurlLine.call(operation.method, path, CurlLine.foreignHost)
        case 404:
            return operation.path == path ? CurlLine.inNoNamespace(CurlLine.call(operation.method, path)) : call("")
        case 408: return "sleep 40 | " + call("-H 'Content-Type: application/json' -T -")
        case 413:
            return "head -c 2000000 /dev/zero | " + call("-H 'Content-Type: application/json' --data-binary @-")
        case 415: return call("-H 'Content-Type: text/csv' -d a,b")
        case 429: return limited(operation, path, caller)
        case 500, 503: return Self.injected(status, operation.method, operation.path, path)
        default: return call("", json: operation.method == "GET" || status == 204 ? nil : "{}")
        }
    }

    private static let login = "$(entrupy-sim users login)"

    /// Requests beyond the limit of a second. The caller is made first, so that the requests follow each other at once.
    private func limited(_ operation: DescribedAnswers.Operation, _ path: String, _ caller: String) -> String {
        let limit = operation.path.hasPrefix("/sdk/") ? "sdk_per_second" : "api_per_second"
        let call = CurlLine.call(operation.method, path, caller.replacing(Self.login, with: "$TOKEN"))
        return
            "entrupy-sim settings set rate_limits.\(limit) 1; TOKEN=\(Self.login); for i in 1 2 3; do \(call); done"
    }

    /// A request with a session that was revoked, for which a setting chooses the status.
    private func ended(_ operation: DescribedAnswers.Operation, _ path: String, _ caller: String) -> String {
        let call = CurlLine.call(operation.method, path, caller.replacing(Self.login, with: "$TOKEN"))
        return
            "entrupy-sim settings set sdk.ended_session_status 403; TOKEN=\(Self.login); entrupy-sim sessions revoke --all; \(call)"
    }

    /// A path with a text for each of its parameters.
    private static func filled(_ path: String, with text: String) -> String {
        path.split(separator: "{", omittingEmptySubsequences: false).enumerated().map { number, part in
            number == 0 ? String(part) : text + part.drop { $0 != "}" }.dropFirst()
        }.joined()
    }

    private static func injected(_ status: Int, _ method: String, _ route: String, _ path: String) -> String {
        let glob = filled(route, with: "*")
        return "entrupy-sim fault add --route '\(glob)' --method \(method) --status \(status) --times 1; "
            + CurlLine.call(method, path)
    }

    /// A command that meets an answer which names an error of the SDK.
    func line(ofSDKError code: SDKErrorCode, _ status: Int) -> String {
        let known = DescribedAnswers.all.first { $0.path == Self.example(of: code) && $0.statuses.contains(status) }
        return known.map { line($0, status) } ?? Self.injected(status, "GET", "/sdk/session", "/sdk/session")
    }

    private static func example(of code: SDKErrorCode) -> String {
        switch code {
        case .ErrorCodeImageUploadError: "/sdk/captures/{id}/images/{region_id}"
        case .ErrorCodeBadRequest, .ErrorCodeRequestTimeoutError: "/sdk/items/search"
        case .ErrorCodeSearchItemNotFound: "/sdk/results/{entrupy_id}"
        default: "/sdk/session"
        }
    }
}
