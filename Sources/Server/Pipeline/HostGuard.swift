import HTTPTypes
import Hummingbird
import Simulation
import SimulationAPI

/// Protects every route from web pages [D hosts]. Against DNS rebinding, the server answers only to hosts that no page can
/// use as its own name. It refuses changes that come from a page of another origin.
struct HostGuard: Sendable {
    /// Host names that are accepted besides IP addresses and local names.
    let allowedHosts: AllowedHosts
    let origins: AllowedOrigins
    /// The server's address where a proxy gives its requests another `Host`.
    private let publicOrigin: String?

    init(allowedHosts: [String], origins: [String] = [], publicURL: String? = nil) {
        self.allowedHosts = AllowedHosts(allowedHosts)
        self.origins = AllowedOrigins(origins)
        publicOrigin = publicURL.flatMap { Origin(ofURL: $0)?.text }
    }

    /// The reason why a request is refused; `nil` if it is allowed. Every request passes this. Where `Host` is `127.0.0.1` or
    /// `localhost` and the request reads, it costs a hundredth of the answer to the shortest request; another host costs a tenth.
    ///
    /// - Parameter isControl: whether the request is one to the control API, which is closed to pages of all other origins.
    func refusal(_ request: HTTPRequest, isControl: @autoclosure () -> Bool) -> BoundaryRefusal? {
        let authority = request.authority
        if let authority, !Self.isThisMachine(authority), !isAllowed(authority) { return .host(authority) }
        switch request.method {
        case .get, .head, .options: return nil
        default: break
        }
        guard let origin = request.headerFields.value(of: .origin) else {
            let sites = request.headerFields[values: .fetchSite]
            return sites.contains { $0.trimmed.lowercased().isIdentical(to: "cross-site") } ? .crossSite : nil
        }
        if isOwn(origin, authority) { return nil }
        let isControl = isControl()
        return !isControl && origins.contains(origin) ? nil : .origin(origin, isControl: isControl)
    }

    /// Whether the host is one of the usual names of this machine: exactly `127.0.0.1` or `localhost`, with or without a
    /// port. This check is fast and makes the full one unnecessary.
    private static func isThisMachine(_ authority: String) -> Bool {
        guard authority.begins(with: "127.0.0.1") || authority.begins(with: "localhost") else { return false }
        // Both names have nine bytes.
        return authority.withBytes { bytes in
            guard bytes.count > 9 else { return true }
            guard bytes[9] == UInt8(ascii: ":"), bytes.count > 10, bytes.count <= 15 else { return false }
            var port = 0
            for byte in bytes[10...] {
                guard byte >= 0x30, byte <= 0x39 else { return false }
                port = port * 10 + Int(byte - 0x30)
            }
            // The full check says what is wrong with a larger one.
            return port <= 65_535
        }
    }

    private func isAllowed(_ authority: String) -> Bool {
        guard let parsed = HostAndPort(authority) else { return false }
        let host = parsed.host
        return parsed.isAddress || !host.contains(ascii: ".") || EngineHosts.contains(host)
            || host.ends(with: ".localhost") || allowedHosts.contains(host)
    }

    /// Whether a page has the origin of the server: the request's own host, by either scheme, since a proxy may add TLS.
    private func isOwn(_ text: String, _ authority: String?) -> Bool {
        guard let origin = Origin(text), origin.isWeb else { return false }
        if let publicOrigin, publicOrigin.isIdentical(to: origin.text) { return true }
        guard let authority, let host = HostAndPort(authority) else { return false }
        return host.host.isIdentical(to: origin.address.host) && (host.port ?? origin.defaultPort) == origin.port
    }
}

/// An origin as browsers send it: scheme, host, and the port if it is not the scheme's usual one.
struct Origin {
    private let scheme: String
    let address: HostAndPort

    /// `nil` if the text is anything else, such as `null`.
    init?(_ text: String) {
        guard let mark = text.split(atEach: "://").first, mark.utf8.count < text.utf8.count,
            mark.utf8.allSatisfy({ (0x61...0x7a).contains($0 | 0x20) || (0x30...0x39).contains($0) || $0 == 0x2d }),
            let address = HostAndPort(Substring(text.utf8.dropFirst(mark.utf8.count + 3)))
        else { return nil }
        scheme = mark.lowercased()
        self.address = address
    }

    /// The origin of a URL without a user; `nil` if it has none.
    init?(ofURL url: String) {
        let parts = url.split(atEach: "://")
        guard parts.count > 1 else { return nil }
        self.init("\(parts[0])://\(parts[1].prefix(before: "/"))")
    }

    var isWeb: Bool { scheme.isOne(of: ["http", "https"]) }
    var defaultPort: Int { scheme.isIdentical(to: "https") ? 443 : 80 }
    var port: Int { address.port ?? defaultPort }
    /// The origin as a browser writes it.
    var text: String {
        "\(scheme)://\(address.host)" + (address.port.map { $0 == defaultPort && isWeb ? "" : ":\($0)" } ?? "")
    }
}

/// The origins of `--cors` [D cors].
struct AllowedOrigins: Sendable {
    /// The origins, or `*` for all.
    private let origins: [String]

    init(_ origins: [String]) { self.origins = origins }

    var isEmpty: Bool { origins.isEmpty }

    func contains(_ origin: String) -> Bool { origin.isOne(of: origins) || origins.contains("*") }
}

/// The reason why a request is refused before any route sees it.
enum BoundaryRefusal: Equatable {
    /// The server does not know the method [D methods].
    case method(String)
    case host(String)
    case origin(String, isControl: Bool)
    /// A browser says that another site sent the request, and not which.
    case crossSite

    var error: PlatformError {
        switch self {
        case .method(let method):
            return .notImplemented(method, known: HTTPRequest.Method.known.map(\.rawValue))
        case .host(let text):
            // A name is repeated as a flag only if it means nothing to a shell.
            let host = HostAndPort(text).map(\.host)
            return .forbidden(
                "this server does not answer to the host \"\(text.excerpt)\"; "
                    + (host.map { "if the name is its own, allow it with --allowed-hosts \($0)" }
                        ?? "names of its own are allowed with --allowed-hosts"),
                [
                    ErrorDetail(
                        "Host",
                        "must be an IP address, localhost, a name without a dot, this machine's name, or one of --allowed-hosts"
                    )
                ])
        case .origin(let text, isControl: true):
            return .forbidden(
                "a page from \(text.excerpt) may not change anything here; the control API is closed to pages of other origins, and --cors does not open it",
                [ErrorDetail("Origin", "must be this server's own, or absent")])
        case .origin(let text, isControl: false):
            let advice =
                Origin(text).map { "allow it with --cors \($0.text)" } ?? "--cors \"*\" allows the pages of all origins"
            return .forbidden(
                "a page from \(text.excerpt) may not change anything here; \(advice)",
                [ErrorDetail("Origin", "must be this server's own, one of --cors, or absent")])
        case .crossSite:
            return .forbidden(
                "a page of another site may not change anything here; with an Origin that --cors allows it may",
                [ErrorDetail("Sec-Fetch-Site", "must not be cross-site without an Origin that --cors allows")])
        }
    }
}

extension HTTPRequest.Method {
    /// The methods that the server knows [D methods]. A route answers those of its own; the others are 405.
    static let known: [Self] = [.get, .head, .post, .put, .patch, .delete, .options, .trace, .connect]
}

extension HTTPField.Name {
    /// Where a browser says who sent a request.
    fileprivate static let fetchSite = HTTPField.Name("Sec-Fetch-Site")!
}
