// Verifies the signature of a webhook. Copy this file into your server. It needs CryptoKit on Apple's platforms, and elsewhere the
// product Crypto of the package https://github.com/apple/swift-crypto.

import Foundation

#if canImport(CryptoKit)
    import CryptoKit
#else
    import Crypto
#endif

/// The form of a signature. A subscription has one of them.
public enum WebhookSignatureForm: String, CaseIterable, Sendable {
    case sha256Base64 = "sha256-base64"
    case sha256Hex = "sha256-hex"
    case hex

    func text(_ code: Data) -> String {
        let digits = code.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        return switch self {
        case .sha256Base64: "SHA256:" + code.base64EncodedString()
        case .sha256Hex: "SHA256:" + digits
        case .hex: digits
        }
    }
}

/// Whether `signature`, the header `Entrupy-Signature` or `nil`, is that of `body`: the bytes as they came, before JSON is
/// parsed. `secret` is the subscription's `secret_key`.
public func isWebhookSigned(
    _ body: Data, by signature: String?, secret: String, form: WebhookSignatureForm = .sha256Base64
) -> Bool {
    let code = HMAC<SHA256>.authenticationCode(for: body, using: SymmetricKey(data: Data(secret.utf8)))
    let expected = Array(form.text(Data(code)).utf8)
    let given = Array((signature ?? "").utf8)
    guard given.count == expected.count else { return false }
    // Looks at every byte, so it takes the same time wherever the first difference is. == of two texts does not.
    return zip(given, expected).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
}
