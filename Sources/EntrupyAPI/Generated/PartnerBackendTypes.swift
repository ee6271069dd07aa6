// Made by `make generate` from the description, openapi/entrupy-sim.yaml. Do not edit.

import SimulationAPI

/// `POST /partner/login` [S, P] [D partner-backend].
public struct PartnerLoginRequest: Codable, Sendable {
    /// The name of one of the seed data's `partner_users`.
    public var username: String
    /// The password of that partner user.
    public var password: String

    public init(username: String, password: String) {
        self.username = username
        self.password = password
    }
}

/// The answer to a partner user's login.
public struct PartnerLoginResponse: Codable, Sendable {
    /// The token for `Authorization: Token …`.
    public var token: String

    public init(token: String) {
        self.token = token
    }
}

/// `POST /partner/authorize-entrupy-sdk-user` [S, P] [D partner-backend].
public struct PartnerAuthorizationRequest: Codable, Sendable {
    /// The opaque request that the SDK in the app made.
    public var sdk_authorization_request: String
    /// The customer's own id of the user. An empty value counts as absent.
    public var unique_user_id: String?
    /// The email. An empty value counts as absent.
    public var email: String?
    /// The first name, at most 254 UTF-8 bytes.
    public var first_name: String?
    /// The last name, at most 254 UTF-8 bytes.
    public var last_name: String?

    public init(
        sdk_authorization_request: String, unique_user_id: String? = nil, email: String? = nil,
        first_name: String? = nil, last_name: String? = nil
    ) {
        self.sdk_authorization_request = sdk_authorization_request
        self.unique_user_id = unique_user_id
        self.email = email
        self.first_name = first_name
        self.last_name = last_name
    }
}
