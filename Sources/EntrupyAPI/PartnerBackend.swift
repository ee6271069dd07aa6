/// `POST /partner/login` [S, P].
public struct PartnerLoginRequest: Codable, Sendable {
    /// Of the seed data's `partner_users`.
    public var username: String
    /// The same.
    public var password: String

    /// Makes one from its members.
    public init(username: String, password: String) {
        self.username = username
        self.password = password
    }
}

/// The answer to a partner user's login.
public struct PartnerLoginResponse: Codable, Sendable {
    /// `Authorization: Token …`.
    public var token: String

    /// Makes one from its members.
    public init(token: String) {
        self.token = token
    }
}

/// `POST /partner/authorize-entrupy-sdk-user` [S, P]. What is not given comes from the partner user's record.
public struct PartnerAuthorizationRequest: Codable, Sendable {
    /// Opaque; made by the SDK in the app.
    public var sdk_authorization_request: String
    /// 8 to 40 of `A-Za-z0-9@.+_-`.
    public var unique_user_id: String?
    /// At most 254 UTF-8 bytes.
    public var email: String?
    /// At most 254 UTF-8 bytes.
    public var first_name: String?
    /// At most 254 UTF-8 bytes.
    public var last_name: String?

    /// Makes one from its members.
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
