import EntrupyAPI
import Simulation
import SimulationAPI

/// The version of the partner API in a request [P].
package enum PartnerVersion: Hashable, Sendable {
    /// `/v1` with `Api-Version` 1.`minor`.
    case v1(minor: Int)
    case v2

    /// The highest minor version of `/v1`.
    package static let lastMinor = 4

    /// `/v1` with the version in the header; `nil` if that is not a valid version.
    package init?(header: String) {
        guard let minor = Self.accepted.firstIndex(where: header.isIdentical) else { return nil }
        self = .v1(minor: minor)
    }

    /// The only form factor whose items it shows; `nil` if it shows all. Others came with 1.2 [P].
    var onlyFormFactor: FormFactor? {
        if case .v1(let minor) = self, minor < 2 { .microscopic } else { nil }
    }

    /// The valid values of the header.
    package static let accepted = (0...lastMinor).map { "1.\($0)" }

    /// The form in which a subscription stores it.
    var stored: String {
        switch self {
        case .v1(let minor): "1.\(minor)"
        case .v2: "2"
        }
    }

    /// - Throws: ``PlatformError/bug(_:)`` if this version of the program does not know it.
    init(stored: String) throws {
        guard let version = stored.isIdentical(to: Self.v2.stored) ? .v2 : PartnerVersion(header: stored) else {
            throw PlatformError.bug("a subscription has the version \"\(stored)\"")
        }
        self = version
    }
}
