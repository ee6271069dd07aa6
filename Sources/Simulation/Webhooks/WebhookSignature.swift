import Crypto
import Foundation

/// Signatures of webhooks.
package enum WebhookSignature {
    /// The longest secret, in UTF-8 bytes [P].
    package static let maxSecretBytes = 256

    /// The signature: lower-case hex of HMAC-SHA256 over exactly these bytes [P]. Receivers compare exactly this
    /// string.
    package static func hex(_ body: Data, secret: String) -> String {
        Hex.string(HMAC<SHA256>.authenticationCode(for: body, using: SymmetricKey(data: Data(secret.utf8))))
    }
}
