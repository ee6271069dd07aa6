import ArgumentParser
import Console
import EntrupyAPI
import Foundation
import SimulationAPI

/// The login of an app: a signed request of the back end, then a session. These are requests of the platform.
struct AppLogin {
    /// The user's unique_user_id.
    let user: String
    /// The name by which the back end's request names its sender.
    let sender: String

    func token(_ client: ControlClient) async throws -> String { try await session(client).token }

    /// - Parameter isRepeated: whether the signed request is used for a second login, whatever the platform answers to it.
    func session(_ client: ControlClient, isRepeated: Bool = false) async throws -> LoginResponse {
        let call = ControlCall(
            .POST, "/sdk/login", body: ["signed_authorization_request": try await signedRequest(client)])
        let session: LoginResponse = try await client.send(call).decoded()
        if isRepeated {
            // The refusal is what the second login is for.
            _ = try? await client.send(call)
        }
        return session
    }

    /// The app's login request, signed by the platform for the back end.
    private func signedRequest(_ client: ControlClient) async throws -> String {
        let call = ControlCall(
            .POST, "/v2/integrations/authorize-user",
            headers: [("Authorization", "Token \(try await client.requiredAPIToken())")],
            body: [
                "sdk_authorization_request": sender, "unique_user_id": user,
                // A user's id may have an @.
                "email": "\(URLPart.escaped(user))@example.com",
            ])
        do {
            let authorized: AuthorizeUserResponse = try await client.send(call).decoded()
            return authorized.signed_authorization_request
        } catch let refusal as Refusal {
            // The user has another email. The request is signed all the same [S].
            guard let answer = refusal.answer,
                let signed = try? WireJSON.decode(ErrorEnvelope.self, from: answer).signed_authorization_request
            else { throw refusal }
            return signed
        }
    }
}

extension ControlClient {
    /// The first API token of the namespace.
    ///
    /// - Throws: ``Refusal`` if there is none.
    func requiredAPIToken() async throws -> String {
        guard let token = try await firstAPIToken() else {
            throw Refusal(
                .no, "no organization of the namespace has an API token",
                next: "load seed data with one: \(options.command("seed load FILE"))")
        }
        return token
    }

    /// The first API token of the namespace; `nil` if there is none.
    func firstAPIToken() async throws -> String? {
        let seed: SeedTokens = try await get("/_sim/export", [("format", "json")])
        return seed.organizations.lazy.compactMap(\.api_tokens.first).first
    }

    /// An API token of the organization of a user; `nil` if it has none.
    func apiToken(ofUser username: String) async throws -> String? {
        let seed: SeedTokens = try await get("/_sim/export", [("format", "json")])
        return seed.organizations.first { username.hasPrefix("\($0.name)-") }?.api_tokens.first
    }
}

/// The part of a namespace's seed data that names API tokens.
private struct SeedTokens: Decodable {
    struct Organization: Decodable {
        let name: String
        let api_tokens: [String]
    }

    let organizations: [Organization]
}

extension UsersCommand {
    struct Login: ControlAction {
        static let abstract = "Log a user in as an app would, and print the session's token."
        static let discussion = """
            curl -H "Authorization: Token $(entrupy-sim users login)" http://127.0.0.1:8642/sdk/session

            These are requests of the platform: limits and faults apply to them. A user that does not exist is made.
            """
        @Argument(help: "The user's unique_user_id.") var user = "sim-test-user"

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            let session = try await AppLogin(user: user, sender: "entrupy-sim users login").session(client)
            if session.expiration_time <= Date().timeIntervalSince1970 {
                terminal.note(
                    "note: the session is over on a device, which compares expiration_time with its own clock: the namespace's is behind real time; a namespace made with --freeze now is not"
                )
            }
            terminal.isJSON ? try terminal.json(of: ["token": session.token]) : terminal.line(session.token)
        }
    }
}
