import Crypto
import EntrupyAPI
import Foundation
import JWTKit
import Storage

/// What a signed authorization request says: a JWT, HS256, with the namespace's own key [D].
struct SignedRequestClaims: JWTPayload, Sendable {
    /// The one-time id.
    var jti: String
    /// The username.
    var sub: String
    /// The organization's name.
    var iss: String
    /// The app it is for, where the SDK's request named one.
    var bundle_id: String?
    /// Whole seconds since the epoch.
    var iat: Int64
    var exp: Int64

    func verify(using algorithm: some JWTAlgorithm) async throws {}
}

/// Signs and checks authorization requests.
enum SignedRequests {
    private static let serializer = DefaultJWTSerializer(jsonEncoder: WireJSON.encoder)
    private static let parser = DefaultJWTParser()

    /// The token for some claims.
    static func sign(_ claims: SignedRequestClaims, with key: SymmetricKey) throws -> String {
        let header: JWTHeader = ["alg": "HS256", "typ": "JWT"]
        var token = Base64URL.encode(try WireJSON.encode(header))
        token += "."
        token += String(decoding: try serializer.serialize(claims, header: header), as: UTF8.self)
        let signature = HMAC<SHA256>.authenticationCode(for: Data(token.utf8), using: key)
        return token + "." + Base64URL.encode(Data(signature))
    }

    /// The claims of a token that this key signed.
    ///
    /// - Throws: ``PlatformError/unauthorized(_:)`` where it is malformed or signed by another.
    static func claims(of token: String, signedWith key: SymmetricKey) throws -> SignedRequestClaims {
        let malformed = PlatformError.unauthorized(
            "signed_authorization_request is malformed; pass on what authorize-user answered, unchanged")
        let parts = token.split(at: ".", omittingEmpty: false)
        guard parts.count == 3, parts.allSatisfy({ !$0.isEmpty }), let signature = Base64URL.decode(parts[2]) else {
            throw malformed
        }
        // The signature comes first: what this server did not write is not decoded, whatever names it has.
        // base64url without padding has one spelling for a signature; any other was tampered with.
        let signed = Data(token.utf8.dropLast(parts[2].utf8.count + 1))
        guard HMAC<SHA256>.isValidAuthenticationCode(signature, authenticating: signed, using: key),
            Base64URL.encode(signature).isIdentical(to: parts[2])
        else {
            throw PlatformError.unauthorized(
                "signed_authorization_request has a bad signature; it was changed, or comes from another namespace")
        }
        guard let parsed = try? parser.parse(Array(token.utf8), as: SignedRequestClaims.self),
            parsed.header.alg == "HS256"
        else { throw malformed }
        return parsed.payload
    }
}

extension JWTHeader {
    fileprivate var alg: String? {
        if case .string(let name) = fields["alg"] { name } else { nil }
    }
}

/// What the SDK's own request string says, where it can be read [D].
struct SDKAuthorizationRequest {
    /// The app's bundle, where the request names one.
    let bundleID: String?

    /// The longest bundle id, in characters; what is longer is cut, and is then registered to nobody.
    private static let longestBundle = 255

    /// The client module's format is base64url JSON with a `bundle_id`; any other string is accepted as it is.
    init(_ text: String) {
        struct Content: Decodable {
            let bundle_id: String
        }
        let content = Base64URL.decode(text).flatMap { try? WireJSON.decode(Content.self, from: $0) }
        // What cannot be a bundle's id stays a bundle that nobody has registered.
        bundleID = (content?.bundle_id).map {
            String($0.replacing(each: "\0", with: "\u{fffd}").prefix(Self.longestBundle))
        }
    }
}
