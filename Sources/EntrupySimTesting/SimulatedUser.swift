import ClientTransport
import Foundation
import SimulationAPI

/// A user of the app, with a session of the SDK's API. ``SimulatedNamespace/user(_:)`` makes one.
///
/// These are requests of the platform, as an app and its back end send them: they are in the journal, rules and limits count, and a
/// refusal is a ``SimulatorError`` with the platform's status. The first one logs the user in. A session that has ended is 401 then:
/// ``login()`` makes another one.
public final class SimulatedUser: Sendable {
    private struct State {
        var username: String
        /// The token of the session; `nil` before the first login.
        var session: String?
    }

    private let state: Locked<State>
    /// The control API of the namespace.
    private let control: ControlConnection

    init(_ username: String, _ control: ControlConnection) {
        state = Locked(State(username: username, session: nil))
        self.control = control
    }

    /// The username, such as `DemoOrg-sim-test-user`; before the login what ``SimulatedNamespace/user(_:)`` was given.
    public var username: String { state.withLock { $0.username } }

    /// Logs the user in as the app and its back end would. A user who does not exist is made.
    ///
    /// - Returns: the token of the new session, for `Authorization: Token TOKEN` in requests below `/sdk`.
    /// - Throws: ``SimulatorError`` if the organization has no API token, or the platform refuses.
    @discardableResult
    public func login() async throws -> String {
        let name = username
        let owner = try await organization(of: name)
        let prefix = owner.name + "-"
        let userID = name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : name
        let known = try await email(of: prefix + userID)
        struct Signed: Decodable {
            var signed_authorization_request: String
        }
        let signed = try await client(owner.apiToken).send(
            "POST", "/v2/integrations/authorize-user",
            [
                "sdk_authorization_request": "EntrupySimTesting", "unique_user_id": userID,
                "email": known ?? "\(userID.segment)@example.com",
            ], as: Signed.self, timeout: ControlConnection.work)
        struct Session: Decodable {
            var username: String
            var token: String
        }
        let session = try await client(nil).send(
            "POST", "/sdk/login", ["signed_authorization_request": signed.signed_authorization_request],
            as: Session.self, timeout: ControlConnection.work)
        state.withLock { $0 = State(username: session.username, session: session.token) }
        return session.token
    }

    /// Flags an item, as the user does in the app.
    ///
    /// - Parameters:
    ///   - item: the item's id.
    ///   - reason: the id of a reason, such as `wrong_result`; `nil` for the first one of the platform.
    ///   - message: the user's text.
    /// - Returns: the state of the flag, as `PUT /sdk/results/{entrupy_id}/flag` answers it.
    /// - Throws: ``SimulatorError`` with the status 400 for a result that may not be flagged or a reason that does not exist, 403 where
    ///   the organization does not flag through the SDK, 404 for an item of another user, 409 for one that is flagged already.
    @discardableResult
    public func flag(_ item: String, reason: String? = nil, message: String? = nil) async throws -> JSONValue {
        try await changeFlag(of: item, ["flag": true, "flag_reason_id": reason, "message": message])
    }

    /// Takes the user's flag from an item.
    ///
    /// - Returns: the state of the flag.
    /// - Throws: ``SimulatorError`` as ``flag(_:reason:message:)`` does: 409 for an item without a flag.
    @discardableResult
    public func unflag(_ item: String) async throws -> JSONValue {
        try await changeFlag(of: item, ["flag": false])
    }

    private func changeFlag(of item: String, _ members: [String: (any ControlValue)?]) async throws -> JSONValue {
        var token = state.withLock { $0.session }
        if token == nil { token = try await login() }
        return try await client(token).send(
            "PUT", "/sdk/results/\(item.segment)/flag", members, as: JSONValue.self, timeout: ControlConnection.work)
    }

    /// The client of an app with the token of a session, or of a back end with an API token.
    private func client(_ token: String?) -> ControlConnection {
        ControlConnection(
            address: control.address, token: nil, limits: control.limits, authorization: token.map { "Token \($0)" })
    }

    /// The name and the first API token of a user's organization; of the first one that has a token for a `unique_user_id`.
    private func organization(of username: String) async throws -> (name: String, apiToken: String) {
        struct Seed: Decodable {
            struct Organization: Decodable {
                var name: String
                var api_tokens: [String]
            }
            var organizations: [Organization]
        }
        let seed = try await control.send(
            "GET", "/_sim/export?format=json", as: Seed.self, timeout: ControlConnection.work)
        let own = seed.organizations.first { username.hasPrefix("\($0.name)-") }
        let other = seed.organizations.first { !$0.api_tokens.isEmpty } ?? seed.organizations.first
        guard let found = own ?? other, let token = found.api_tokens.first else {
            let owner = (own ?? other).map { "the organization \($0.name)" } ?? "the namespace"
            throw SimulatorError("\(username) cannot log in: \(owner) has no API token; load seed data with one")
        }
        return (found.name, token)
    }

    /// The email of a user; `nil` for one who has none or does not exist.
    private func email(of username: String) async throws -> String? {
        struct Known: Decodable {
            var email: String?
        }
        do {
            return try await control.send("GET", "/_sim/users/\(username.segment)", as: Known.self).email
        } catch let error as SimulatorError where error.status == 404 {
            return nil
        }
    }
}
