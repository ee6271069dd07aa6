// Made by `make generate` from the description, openapi/entrupy-sim.yaml. Do not edit.

import SimulationAPI

/// `POST /v1/integrations/authorize-user`, `POST /v2/integrations/authorize-user` [S].
public struct AuthorizeUserRequest: Codable, Sendable {
    /// The opaque request that the app's SDK made, at most 10,000 bytes.
    public var sdk_authorization_request: String
    /// The customer's own id of the user.
    public var unique_user_id: String
    /// The email: required until the user has one, at most 254 bytes in UTF-8. An empty value counts as absent.
    public var email: String?
    /// At most 254 bytes in UTF-8. An empty value counts as absent.
    public var first_name: String?
    /// At most 254 bytes in UTF-8. An empty value counts as absent.
    public var last_name: String?

    public init(
        sdk_authorization_request: String, unique_user_id: String, email: String? = nil, first_name: String? = nil,
        last_name: String? = nil
    ) {
        self.sdk_authorization_request = sdk_authorization_request
        self.unique_user_id = unique_user_id
        self.email = email
        self.first_name = first_name
        self.last_name = last_name
    }
}

/// The answer to an authorization [S].
public struct AuthorizeUserResponse: Codable, Sendable, Equatable {
    /// The signed request that the app logs in with. It is valid for one login.
    public var signed_authorization_request: String
    /// The user's name, `OrganizationName-unique_user_id`.
    public var username: String

    public init(signed_authorization_request: String, username: String) {
        self.signed_authorization_request = signed_authorization_request
        self.username = username
    }
}

/// `POST /sdk/login`, `POST /login` [D sdk-shapes].
public struct LoginRequest: Codable, Sendable {
    /// The signed request from authorize-user, unchanged.
    public var signed_authorization_request: String
    /// The app that logs in. It must belong to the organization.
    public var bundle_id: String?

    public init(signed_authorization_request: String, bundle_id: String? = nil) {
        self.signed_authorization_request = signed_authorization_request
        self.bundle_id = bundle_id
    }
}

/// The answer to a login. Times are epoch seconds.
public struct LoginResponse: Codable, Sendable {
    /// The session token: `Authorization: Token …`.
    public var token: String
    /// The time at which the session ends. At exactly this time it is no longer valid.
    public var expiration_time: Double
    /// The time from which the app should log in again: 30 minutes before the end [P].
    public var soft_expiration_time: Double
    /// `OrganizationName-unique_user_id`.
    public var username: String

    public init(token: String, expiration_time: Double, soft_expiration_time: Double, username: String) {
        self.token = token
        self.expiration_time = expiration_time
        self.soft_expiration_time = soft_expiration_time
        self.username = username
    }
}

/// `GET /sdk/session`.
public struct SessionInfo: Codable, Sendable {
    /// The user's name, `OrganizationName-unique_user_id`.
    public var username: String
    /// The organization's name.
    public var organization: String
    /// The bundle id of the app that logged in, or null.
    @Nullable public var bundle_id: String?
    /// The time of the login.
    public var created_at: Double
    /// The time at which the session ends. At exactly this time it is no longer valid.
    public var expiration_time: Double
    /// The time from which the app should log in again: 30 minutes before the end [P].
    public var soft_expiration_time: Double

    public init(
        username: String, organization: String, bundle_id: String?, created_at: Double, expiration_time: Double,
        soft_expiration_time: Double
    ) {
        self.username = username
        self.organization = organization
        _bundle_id = Nullable(wrappedValue: bundle_id)
        self.created_at = created_at
        self.expiration_time = expiration_time
        self.soft_expiration_time = soft_expiration_time
    }
}
