import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension URL {
    /// The simulator's address: `ENTRUPY_SIM_URL` of the environment, else the default. A text that is not a URL is kept as a path, so
    /// that the first request names it.
    package static var ofSimulator: URL {
        let address = ProcessInfo.processInfo.environment["ENTRUPY_SIM_URL"] ?? "http://127.0.0.1:8642"
        return URL(string: address) ?? URL(fileURLWithPath: address)
    }

    /// The text of a server's URL without a slash at its end, for a path to follow.
    package var address: String {
        var text = absoluteString
        while text.hasSuffix("/") { text.removeLast() }
        return text
    }
}

extension URLRequest {
    /// A request to a server; `nil` if `address` is not the URL of one.
    ///
    /// - Parameter type: the media type of the body.
    package init?(_ method: String, _ address: String, _ body: Data?, type: String?) {
        guard let url = URL(string: address), url.host != nil else { return nil }
        self.init(url: url)
        httpMethod = method
        httpBody = body
        if let type, body != nil { setValue(type, forHTTPHeaderField: "Content-Type") }
    }
}

extension String {
    /// The text as one segment of a path, or as a value in a query.
    package var segment: String {
        let plain = "-._~abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
        return addingPercentEncoding(withAllowedCharacters: CharacterSet(charactersIn: plain)) ?? ""
    }
}
