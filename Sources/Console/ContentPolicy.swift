import Foundation
import Hashes

/// Parts of a `Content-Security-Policy`.
package enum ContentPolicy {
    /// The source of a script or style that stands in the page itself: its hash, so that a browser runs no other.
    package static func source(of text: some StringProtocol) -> String {
        "'sha256-\(Data(SHA256.hash(data: Data(text.utf8))).base64EncodedString())'"
    }
}
