import Foundation
import Hashes
import Simulation
import SimulationAPI

/// The claims of a signed authorization request: a JWT, HS256, signed with the namespace's own key
/// [D signed-request].
struct SignedRequestClaims: Codable, Sendable {
    /// The one-time id.
    var jti: String
    /// The username.
    var sub: String
    /// The organization's name.
    var iss: String
    /// The app's bundle id; `nil` if the SDK's request named none.
    var bundle_id: String?
    /// Issued-at and expiry times, in whole seconds since the epoch.
    var iat: Int64
    var exp: Int64
}

enum SignedRequests {
    /// The first part of every token, in base64url.
    private static let header = Base64URL.encode(Data(#"{"alg":"HS256","typ":"JWT"}"#.utf8))

    static func sign(_ claims: SignedRequestClaims, with key: HMACSHA256) throws -> String {
        let token = try header + "." + Base64URL.encode(WireJSON.encode(claims))
        return token + "." + Base64URL.encode(Data(key.code(for: Data(token.utf8))))
    }

    /// The claims of a token that was signed with `key`.
    ///
    /// - Throws: ``PlatformError/unauthorized(_:)`` if the token is malformed or was signed with another key.
    static func claims(of token: String, signedWith key: HMACSHA256) throws -> SignedRequestClaims {
        let malformed = PlatformError.unauthorized(
            "signed_authorization_request is malformed; send the value from authorize-user unchanged")
        let parts = token.split(at: ".", omittingEmpty: false)
        guard parts.count == 3, parts.allSatisfy({ !$0.isEmpty }), let signature = Base64URL.decode(parts[2]) else {
            throw malformed
        }
        // The signature is checked first, so that only claims written by this server are decoded.
        // base64url without padding has exactly one spelling of a signature. Any other was tampered with.
        let signed = Data(token.utf8.dropLast(parts[2].utf8.count + 1))
        guard key.isValid(signature, for: signed), Base64URL.encode(signature).isIdentical(to: parts[2]) else {
            throw PlatformError.unauthorized(
                "signed_authorization_request has a bad signature; it was changed, or comes from another namespace")
        }
        // The key is the namespace's own for this purpose: only a token of another version of the program is none of these.
        guard parts[0].isIdentical(to: header), let payload = Base64URL.decode(parts[1]),
            let claims = try? WireJSON.decode(SignedRequestClaims.self, from: payload)
        else { throw malformed }
        return claims
    }

    /// The longest bundle id, in characters. Longer ones are cut; a cut id counts as not registered.
    private static let maxBundleLength = 255

    /// The app's bundle id in the SDK's own request string, as far as it can be read [D sdk-request-format].
    ///
    /// Reads the client module's format: base64url JSON with a `bundle_id`. Any other string is accepted and names no
    /// bundle.
    static func bundleID(inSDKRequest text: String) -> String? {
        struct Content: Decodable {
            let bundle_id: String
        }
        // Any other text names no bundle.
        let content = Base64URL.decode(text).flatMap { try? WireJSON.decode(Content.self, from: $0) }
        // An invalid bundle id is kept, as one that is not registered.
        return content.map { String($0.bundle_id.replacing(each: "\0", with: "\u{fffd}").prefix(maxBundleLength)) }
    }
}
