/// The service that the platform performs for an item [P] [D fingerprints].
public enum Activity: String, Codable, Sendable, CaseIterable {
    case authentication
    /// Takes the fingerprint of an item, for later comparison.
    case fingerprintRegister = "fingerprint_register"
    /// Compares an item with the fingerprint of a registered one.
    case fingerprintCompare = "fingerprint_compare"

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
