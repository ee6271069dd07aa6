// Made by `make generate` from the description, openapi/entrupy-sim.yaml. Do not edit.

/// The answer of `POST /_sim/seed` [D seed-data-later].
public struct SeedLoaded: Codable, Sendable {
    /// The number of organizations created.
    public var organizations: Int
    /// The number of users created.
    public var users_created: Int
    /// The number of users whose names or email changed.
    public var users_updated: Int
    /// The number of API tokens added.
    public var api_tokens: Int
    /// The total number of brands after loading.
    public var brands: Int

    public init(organizations: Int, users_created: Int, users_updated: Int, api_tokens: Int, brands: Int) {
        self.organizations = organizations
        self.users_created = users_created
        self.users_updated = users_updated
        self.api_tokens = api_tokens
        self.brands = brands
    }
}
