import EntrupyAPI
import HTTPTypes

/// A namespace that a request names besides its path, for clients of which only the host or a header can be set [D].
enum NamespaceChoice {
    /// The namespace of `X-Sim-Namespace`, or of a host `{ns}.localhost`; the header wins.
    static func named(by request: HTTPRequest) -> String? {
        if let name = request.headerFields.value(of: .namespace) { return name }
        guard let authority = request.authority else { return nil }
        // Bytes: looking for characters takes several times as long, and this is done for every request.
        return name(ofHost: authority[..<(authority.utf8.firstIndex(of: UInt8(ascii: ":")) ?? authority.endIndex)])
    }

    private static func name(ofHost host: Substring) -> String? {
        let suffix = ".localhost".utf8
        let host = host.utf8.last == UInt8(ascii: ".") ? host.utf8.dropLast() : host.utf8
        guard host.count > suffix.count else { return nil }
        let split = host.index(host.endIndex, offsetBy: -suffix.count)
        // The usual host is an address: looked at without making a string of it.
        guard host[split] == UInt8(ascii: "."), host[split...].elementsEqual(suffix, by: { $0 | 0x20 == $1 | 0x20 })
        else { return nil }
        return Substring(host[..<split]).lowercased()
    }
}

extension HTTPField.Name {
    /// Which namespace a request is for, where its path does not say [D].
    static let namespace = HTTPField.Name("X-Sim-Namespace")!
    /// What a control request shows where the server asks for it [D].
    static let controlToken = HTTPField.Name("X-Sim-Control-Token")!
}
