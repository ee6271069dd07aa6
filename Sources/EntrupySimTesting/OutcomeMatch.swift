/// A condition on the items of an outcome rule.
public struct OutcomeMatch: Sendable {
    let member: String
    let value: String

    /// The brand's id or name, ignoring case.
    public static func brand(_ value: String) -> Self { Self(member: "brand", value: value) }
    /// A glob over the item's `customer_item_id`.
    public static func customerItemID(_ value: String) -> Self { Self(member: "customer_item_id", value: value) }
    /// The user's name, `Organization-unique_user_id`.
    public static func username(_ value: String) -> Self { Self(member: "username", value: value) }
    /// The id of the product category, such as `sneakers`.
    public static func productCategory(_ value: String) -> Self { Self(member: "product_category", value: value) }
    /// Of App Components: `session`, `document` or `biometrics`. Such a rule's result is the name of an error or a quality.
    public static func component(_ value: String) -> Self { Self(member: "component", value: value) }
    /// The id of a workflow of App Components; together with ``component(_:)``.
    public static func workflow(_ value: String) -> Self { Self(member: "workflow", value: value) }
    /// The id of a client of App Components; together with ``component(_:)``.
    public static func clientID(_ value: String) -> Self { Self(member: "client_id", value: value) }
    /// The type of a document of App Components, such as `passport`; together with ``component(_:)``.
    public static func documentType(_ value: String) -> Self { Self(member: "document_type", value: value) }
    /// The country that issued a document of App Components; together with ``component(_:)``.
    public static func issuingCountry(_ value: String) -> Self { Self(member: "issuing_country", value: value) }
    /// `production` or `debug`.
    public static func configType(_ value: String) -> Self { Self(member: "config_type", value: value) }
}
