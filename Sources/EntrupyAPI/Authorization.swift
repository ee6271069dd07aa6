/// `POST /v1|v2/integrations/authorize-user` [S].
public struct AuthorizeUserRequest: Codable, Sendable {
    /// Opaque; made by the SDK in the app.
    public var sdk_authorization_request: String
    /// 8 to 40 of `A-Za-z0-9@.+_-`.
    public var unique_user_id: String
    /// Required until the user has one; at most 254 UTF-8 bytes.
    public var email: String?
    /// At most 254 UTF-8 bytes.
    public var first_name: String?
    /// At most 254 UTF-8 bytes.
    public var last_name: String?

    /// Makes one from its members.
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
    /// To be handed to the app; good for one login.
    public var signed_authorization_request: String
    /// `OrganizationName-unique_user_id`.
    public var username: String

    /// Makes one from its members.
    public init(signed_authorization_request: String, username: String) {
        self.signed_authorization_request = signed_authorization_request
        self.username = username
    }
}

/// `POST /sdk/login` [D shape].
public struct LoginRequest: Codable, Sendable {
    /// What authorize-user answered, unchanged.
    public var signed_authorization_request: String
    /// The app that logs in, where it says so.
    public var bundle_id: String?

    /// Makes one from its members.
    public init(signed_authorization_request: String, bundle_id: String? = nil) {
        self.signed_authorization_request = signed_authorization_request
        self.bundle_id = bundle_id
    }
}

/// The answer to a login. Times are epoch seconds.
public struct LoginResponse: Codable, Sendable {
    /// The session token: `Authorization: Token …`.
    public var token: String
    /// At exactly this time the session is over.
    public var expiration_time: Double
    /// 30 minutes earlier: time to log in anew [P].
    public var soft_expiration_time: Double
    /// `OrganizationName-unique_user_id`.
    public var username: String

    /// Makes one from its members.
    public init(token: String, expiration_time: Double, soft_expiration_time: Double, username: String) {
        self.token = token
        self.expiration_time = expiration_time
        self.soft_expiration_time = soft_expiration_time
        self.username = username
    }
}

/// `GET /sdk/session`. Times are epoch seconds.
public struct SessionInfo: Codable, Sendable {
    /// Whose session it is.
    public var username: String
    /// The organization's name.
    public var organization: String
    /// The app that logged in, or null.
    @Nullable public var bundle_id: String?
    /// When the login was.
    public var created_at: Double
    /// At exactly this time the session is over.
    public var expiration_time: Double
    /// 30 minutes earlier.
    public var soft_expiration_time: Double

    /// Makes one from its members.
    public init(
        username: String, organization: String, bundle_id: String?, created_at: Double, expiration_time: Double,
        soft_expiration_time: Double
    ) {
        self.username = username
        self.organization = organization
        self._bundle_id = Nullable(wrappedValue: bundle_id)
        self.created_at = created_at
        self.expiration_time = expiration_time
        self.soft_expiration_time = soft_expiration_time
    }
}

/// `GET /v1/health`, `/_sim/health`.
public struct Health: Codable, Sendable {
    /// `ok`, or `ready`.
    public var status: String

    /// Makes one from its members.
    public init(status: String) {
        self.status = status
    }
}
