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

/// The device that took an item's pictures [P].
public enum FormFactor: String, Codable, Sendable, CaseIterable {
    /// The microscope of the first versions. `Api-Version` 1.0 and 1.1 know these items alone.
    case microscopic
    case lightbox
    /// A phone's camera, as the SDK uses it.
    case freeCamera = "free_camera"
}
