import Foundation
import SimulationAPI

/// Writes texts as parts of URLs.
package enum URLPart {
    /// Percent-encodes one part of a path or a query.
    package static func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }

    /// A path with a query as it came from a client, for the end of a URL: percent-encodes only what URLs cannot hold, and `#`,
    /// which would end the query. It begins with a slash, so that it cannot change the host before it.
    package static func target(_ path: String) -> String {
        (path.begins(with: "/") ? "" : "/") + (path.addingPercentEncoding(withAllowedCharacters: visible) ?? "")
    }

    private static let unreserved = CharacterSet(
        charactersIn: "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
    private static let visible = CharacterSet(charactersIn: "!"..."~").subtracting(CharacterSet(charactersIn: "#"))
}
