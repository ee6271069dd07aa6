import HTTPTypes
import Simulation

/// The namespace that a request names outside its path. It serves clients that can set only the host or a
/// header [D namespace-choice].
enum NamespaceChoice {
    /// The namespace in `X-Sim-Namespace`, or in a host `{ns}.localhost`. The header wins. `nil` if there is neither.
    static func named(by request: HTTPRequest) -> String? {
        if let name = request.headerFields.value(of: .namespace) { return name }
        guard let authority = request.authority else { return nil }
        // Works on bytes: a search for characters takes several times as long, and this runs for every request.
        return name(ofHost: authority[..<(authority.utf8.firstIndex(of: UInt8(ascii: ":")) ?? authority.endIndex)])
    }

    private static func name(ofHost host: Substring) -> String? {
        let suffix = ".localhost".utf8
        let host = host.utf8.last == UInt8(ascii: ".") ? host.utf8.dropLast() : host.utf8
        guard host.count > suffix.count else { return nil }
        let split = host.index(host.endIndex, offsetBy: -suffix.count)
        // The usual host is an address. This check needs no string.
        guard host[split] == UInt8(ascii: "."), host[split...].elementsEqual(suffix, by: { $0 | 0x20 == $1 | 0x20 })
        else { return nil }
        return Substring(host[..<split]).lowercased()
    }
}

extension HTTPField.Name {
    /// The namespace of a request whose path names none [D namespace-choice].
    static let namespace = HTTPField.Name("X-Sim-Namespace")!
    /// The control token, if the server requires one [D control-token].
    static let controlToken = HTTPField.Name("X-Sim-Control-Token")!
}
