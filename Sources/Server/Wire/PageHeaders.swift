import HTTPTypes

extension HTTPField.Name {
    static let referrerPolicy = HTTPField.Name("Referrer-Policy")!
}

extension HTTPFields {
    /// The headers of every HTML page of the server's own: not kept by browsers, not read as another type, not shown in the frame
    /// of another site, its address not told to other sites.
    ///
    /// - Parameter policy: what the page may load, in the form of `Content-Security-Policy`.
    static func page(loading policy: String) -> HTTPFields {
        [
            .contentType: "text/html; charset=utf-8", .cacheControl: "no-store",
            .contentSecurityPolicy:
                "default-src 'none'; \(policy); form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
            .xContentTypeOptions: "nosniff", .referrerPolicy: "same-origin",
        ]
    }
}
