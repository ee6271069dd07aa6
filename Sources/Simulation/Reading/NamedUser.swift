import SimulationAPI
import Storage

/// Finds the user whom a filter of the control API names [D control-filters].
package enum NamedUser {
    /// The number of users, newest first, among whom other letter cases and near names are looked for.
    private static let examined = 1000

    /// The user with a username, in any letter case, or with a `unique_user_id` that no other user has.
    ///
    /// - Throws: ``PlatformError/invalid(_:_:)`` with the nearest username if there is none.
    package static func find(_ name: String, _ job: JobContext) throws -> UserRecord {
        if let user = try job.transaction.user(username: name) { return user }
        let called = try job.transaction.users(before: .max, uniqueUserID: name, limit: 2)
        if called.count == 1 { return called[0] }
        let users = try job.transaction.users(before: .max, limit: examined)
        let lower = name.lowercased()
        let same = users.filter { $0.username.lowercased().isIdentical(to: lower) }
        if same.count == 1 { return same[0] }
        let question = FieldReader.question(name, users.map(\.username))
        throw PlatformError.invalid(
            field: "username", "is no user of this namespace, got \"\(name.excerpt)\"\(question)")
    }
}
