import Foundation
import Hashes

/// Signatures of webhooks.
package enum WebhookSignature {
    /// The longest secret, in UTF-8 bytes [P].
    package static let maxSecretBytes = 256

    /// The HMAC-SHA256 of exactly these bytes [P]. The key is the secret in UTF-8.
    package static func code(_ body: Data, secret: String) -> Data {
        Data(HMACSHA256(key: Data(secret.utf8)).code(for: body))
    }
}
