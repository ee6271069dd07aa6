import ArgumentParser
import Console
import Foundation
import SimulationAPI

struct CaptureCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "capture", abstract: "Capture items as an app would.", subcommands: [Run.command])

    struct Run: ControlAction {
        static let abstract = "Make an item as an app would: log in, capture, upload pictures, submit. Prints its id."
        static let discussion = "These are requests of the platform: limits, faults and outcome rules apply to them."
        @Option(help: "The item's customer_item_id.") var sku: String
        @Option(help: "The brand.") var brand = "Nike"
        @Option(help: "The item type, for instance t-shirt. (default: sneakers)") var itemType: String?
        @Option(help: "The user's unique_user_id.") var user = "sim-test-user"

        private struct Session: Decodable {
            let token: String
        }

        private struct Capture: Decodable {
            struct Step: Decodable {
                let region_id: String
                let required: Bool
            }

            let capture_id: String
            let steps: [Step]
        }

        private struct Item: Decodable {
            let entrupy_id: String
        }

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            let signed = try await signedRequest(client)
            let session: Session = try await client.send(
                ControlCall(.POST, "/sdk/login", body: ["signed_authorization_request": signed])
            ).decoded()
            let headers = [("Authorization", "Token \(session.token)")]
            let item = JSONValue.members([
                ("customer_item_id", sku), ("brand", brand), ("item_type", itemType), ("style_name", "Any style"),
            ])
            let capture: Capture = try await client.send(
                ControlCall(.POST, "/sdk/captures", headers: headers, body: ["item": item])
            ).decoded()
            for step in capture.steps where step.required {
                try await client.send(
                    ControlCall(
                        .PUT, "/sdk/captures/\(capture.capture_id)/images/\(step.region_id)", headers: headers,
                        body: .png(Self.picture)))
            }
            let answer = try await client.send(
                ControlCall(.POST, "/sdk/captures/\(capture.capture_id)/submit", headers: headers))
            if terminal.isJSON { return terminal.json(answer.bytes) }
            let submitted: Item = try answer.decoded()
            terminal.line(submitted.entrupy_id)
        }

        /// The app's login request, signed by the platform for the back end.
        private func signedRequest(_ client: ControlClient) async throws -> String {
            guard let token = try await client.firstAPIToken() else {
                throw Refusal(
                    .no, "no organization of the namespace has an API token",
                    next: "load seed data with one: entrupy-sim seed load FILE")
            }
            let call = ControlCall(
                .POST, "/v2/integrations/authorize-user", headers: [("Authorization", "Token \(token)")],
                body: [
                    "sdk_authorization_request": "entrupy-sim capture run", "unique_user_id": user,
                    // A user's id may have an @.
                    "email": "\(URLPart.escaped(user))@example.com",
                ])
            do {
                let authorized: ErrorEnvelope.Signed = try await client.send(call).decoded()
                return authorized.signed_authorization_request
            } catch let refusal as Refusal {
                // The user has another email. The request is signed all the same [S].
                guard let answer = refusal.answer,
                    let conflict = try? WireJSON.decode(ErrorEnvelope.Signed.self, from: answer)
                else { throw refusal }
                return conflict.signed_authorization_request
            }
        }

        /// A grey PNG of 48 by 48 pixels.
        private static let picture =
            Data(
                base64Encoded: "iVBORw0KGgoAAAANSUhEUgAAADAAAAAwCAAAAAByaaZbAAAAJ0lEQVR42mP4TyJg"
                    + "GKQaJhAJRjWMahjVMKphVMOohlEN9NcwxNsaAHZDQZuahtY3AAAAAElFTkSuQmCC")
            ?? Data()
    }
}

extension ErrorEnvelope {
    /// The member of an answer, or of a 409, that holds a signed request.
    fileprivate struct Signed: Decodable {
        let signed_authorization_request: String
    }
}

extension ControlClient {
    /// The first API token of the namespace; `nil` if there is none.
    func firstAPIToken() async throws -> String? {
        let seed: SeedTokens = try await get("/_sim/export", [("format", "json")])
        return seed.organizations.lazy.compactMap(\.api_tokens.first).first
    }
}

/// The part of a namespace's seed data that names API tokens.
private struct SeedTokens: Decodable {
    struct Organization: Decodable {
        let api_tokens: [String]
    }

    let organizations: [Organization]
}
