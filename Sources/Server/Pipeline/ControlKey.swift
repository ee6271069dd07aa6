import Foundation
import HTTPTypes
import Hummingbird
import Simulation

/// Checks the control token, if the server requires one [D control-token].
struct ControlKey: Sendable {
    /// The required token. `nil` if none is required.
    let token: String?

    private static let cookie = "sim_control_token"
    /// The pages whose URL may contain the token, and those below them.
    private static let pages = ["/_sim/docs", "/_sim/console"]

    private static func isPage(_ path: String) -> Bool {
        pages.contains { path.isIdentical(to: $0) || path.begins(with: $0 + "/") }
    }

    /// Paths that need no token: process managers ask for them, and they reveal nothing.
    private static let openPaths = ["/_sim/health", "/_sim/ready", ServerRoutes.authorityPath, ConsoleRoutes.tokenPath]

    /// Whether a route needs the token of a server that requires one.
    static func isRequired(for path: String) -> Bool {
        path.begins(with: "/_sim/") && !path.isOne(of: openPaths) && !path.isIdentical(to: ServerRoutes.pingPath)
    }

    /// The error for a control request that is refused. `nil` if it is allowed.
    func refusal(_ request: HTTPRequest, _ path: String) -> PlatformError? {
        guard let token, !path.isOne(of: Self.openPaths) else { return nil }
        // One valid token is enough. A browser still sends its old cookie after a restart with another token.
        let shown = [
            request.headerFields[.controlToken], Self.cookie(of: request),
            Self.isPage(path) ? Self.queryToken(request.path ?? "") : nil,
        ].compactMap { $0 }
        guard !shown.isEmpty else {
            return .unauthorized(
                "the control API needs this server's control token: send it as X-Sim-Control-Token")
        }
        return shown.contains { Self.isSame($0, token) } ? nil : .unauthorized(Self.wrongToken)
    }

    static let wrongToken =
        "the control token is wrong: send the one that the server printed at its start, or --control-token, as X-Sim-Control-Token"

    /// The redirect for a page whose URL contains the token. It puts the token into a cookie and leads to the page
    /// without it.
    func cookieRedirect(_ target: Target) -> Response? {
        guard let token, Self.isPage(target.path), let shown = Self.queryToken(target.query),
            Self.isSame(shown, token)
        else { return nil }
        let page = ConsoleRoutes.base(of: target.namespace) + target.path
        return Response(status: .seeOther, headers: [.location: page, .setCookie: Self.cookie(token)])
    }

    /// The cookie for a token that a person gave; `nil` if it is not the right one.
    func cookie(for shown: String) -> String? {
        guard let token else { return Self.cookie("") }
        return Self.isSame(shown, token) ? Self.cookie(token) : nil
    }

    private static func cookie(_ token: String) -> String {
        let value = token.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        return "\(cookie)=\(value); Path=/; HttpOnly; SameSite=Strict"
    }

    private static func cookie(of request: HTTPRequest) -> String? {
        for line in request.headerFields[values: .cookie] {
            for pair in line.split(at: ";") {
                let parts = pair.split(at: "=", maxSplits: 1)
                if parts.count == 2, parts[0].trimmed.isIdentical(to: cookie) {
                    return String(parts[1]).removingPercentEncoding
                }
            }
        }
        return nil
    }

    private static func queryToken(_ path: String) -> String? {
        guard let mark = path.utf8.firstIndex(of: UInt8(ascii: "?")) else { return nil }
        var query = FieldReader(query: path[path.index(after: mark)...])
        return query.given("token")
    }

    /// Compares two tokens in constant time, so that the time does not reveal how much of a token is right.
    private static func isSame(_ shown: String, _ token: String) -> Bool {
        let (left, right) = (Array(shown.utf8), Array(token.utf8))
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
