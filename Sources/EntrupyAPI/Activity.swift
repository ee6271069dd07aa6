extension Activity {
    /// The name that items show: `authentication` or `fingerprint`.
    public var name: String { self == .authentication ? "authentication" : "fingerprint" }

    /// The mode of a fingerprint, `register` or `compare`; `nil` for an authentication.
    public var mode: String? {
        switch self {
        case .authentication: nil
        case .fingerprintRegister: "register"
        case .fingerprintCompare: "compare"
        }
    }
}
