import ArgumentParser
import EntrupyAPI
import Foundation
import NIOCore
import Server
import SimulationAPI

/// The options that say what a subscription covers, and in which form.
struct SubscriptionOptions: ParsableArguments {
    @Option(
        help:
            "The events, for instance session.completed; may be repeated, or separated by commas. \"entrupy-sim choices webhook_events\" lists them. (default: all)"
    )
    var events: [String] = []
    @Option(help: "The organization. (default: the first one of the namespace)") var organization: String?
    @Option(help: "Only items of this user. (default: of all users)") var username: String?
    @Option(help: "The form of the bodies, items or event. (default: that of the settings)") var format: WebhookFormat?
    @Option(
        help:
            "The form of the signatures, sha256-base64, sha256-hex or hex. (default: that of the settings)")
    var signature: WebhookSignatureForm?

    /// See ``ControlAction/optionNames``.
    static let names = [
        "events": "--events", "organization": "--organization", "username": "--username", "format": "--format",
        "signature": "--signature",
    ]

    func validate() throws {
        try require(
            !eventNames.contains(""),
            "--events must name events, such as session.completed,support.message, got an empty name")
    }

    /// The names of the events; empty for all.
    var eventNames: [String] {
        events.flatMap {
            $0.split(separator: ",", omittingEmptySubsequences: false).map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }

    /// The body of the request that makes the subscription.
    func body(url: String, secret: String) -> ControlCall.Body {
        [
            "organization": organization, "url": url, "secret_key": secret, "events": eventNames,
            "username": username, "format": format?.rawValue, "signature": signature?.rawValue,
        ]
    }
}

extension WebhookFormat: ExpressibleByArgument {}

extension WebhooksCommand {
    struct Add: ControlAction {
        static let abstract = "Subscribe a URL to webhooks. An equal subscription is found again, and gets the secret."
        static let discussion = """
            webhooks add http://127.0.0.1:9000/hooks --secret my-secret
            webhooks add http://127.0.0.1:9000/hooks --secret my-secret --events session.completed,support.message

            Prints the subscription's id. Two subscriptions are equal if they differ in their secrets alone; "webhooks list" shows \
            them. The URL must be a loopback or private address, unless the server was started with --webhook-targets any.
            """
        static let optionNames = SubscriptionOptions.names.merging(["url": "the URL", "secret_key": "--secret"]) { $1 }
        @Argument(help: "The URL that deliveries go to.") var url: String
        @Option(help: "The secret_key that signs deliveries.") var secret: String
        @OptionGroup var options: SubscriptionOptions

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            let old = try await equal(client)
            let answer = try await client.send(
                old.map { ControlCall(.PATCH, "/_sim/webhooks/\($0.id)", body: ["secret_key": secret]) }
                    ?? ControlCall(.POST, "/_sim/webhooks", body: options.body(url: url, secret: secret)))
            let subscription: JSONValue = try answer.decoded()
            guard !terminal.isJSON else {
                return try terminal.json(of: subscription.merging(.members([("existing", old != nil)])))
            }
            let made: SubscriptionInfo = try answer.decoded()
            terminal.line(made.id)
            if old != nil { terminal.note("it was there already, and has the secret now") }
            if let address = try await refusedAddress(client) {
                terminal.note(
                    "note: \(url.excerpt) leads to \(address), which is not a loopback or private address; deliveries go there only if the server is started with --webhook-targets any"
                )
            }
            if made.status == "pending" {
                terminal.note("it gets no deliveries until its domain is verified: entrupy-sim doctor says how")
            }
        }

        /// The maximum time for which the name servers are asked for the note.
        private static let lookUpTime = TimeAmount.seconds(2)

        /// An address of the URL's name, if the server would send nothing to any of them; `nil` if it would, or that is not known. It
        /// has refused other addresses already.
        private func refusedAddress(_ client: ControlClient) async throws -> String? {
            guard case .success(let target) = ServerWebhookTarget.read(url), target.address == nil else { return nil }
            let info: ServerInfo = try await client.get("/_sim/info")
            guard info.webhook_targets == .local else { return nil }
            // A name that is not known here may be known to the server.
            let found = try? await ServerResolver.addresses(of: target.host, within: Self.lookUpTime)
            return found.flatMap(target.refused)
        }

        /// The oldest subscription that is equal to the wanted one, except for its secret; `nil` if there is none.
        private func equal(_ client: ControlClient) async throws -> SubscriptionInfo? {
            let all: SubscriptionInfoList = try await client.get("/_sim/webhooks")
            let candidates = all.webhooks.filter {
                $0.version == "v2" && $0.url.isIdentical(to: url) && $0.username == options.username
            }
            guard !candidates.isEmpty else { return nil }
            // Options that were not given are the namespace's settings.
            let choices: Choices = try await client.get("/_sim/choices")
            let settings: JSONObject = try await client.get("/_sim/settings")
            let organization = options.organization ?? choices.lists["organizations"]?.first?.id
            let events = Set(
                options.eventNames.isEmpty ? choices.lists["webhook_events"]?.map(\.id) ?? [] : options.eventNames)
            let format = options.format?.rawValue ?? settings["webhooks"]?.members?["format"]?.text
            let signature = options.signature?.rawValue ?? settings["webhooks"]?.members?["signature"]?.text
            return candidates.first {
                $0.organization == organization && Set($0.events) == events && $0.format == format
                    && $0.signature == signature
            }
        }
    }

    struct Remove: ControlAction {
        static let abstract = "Delete subscriptions. Their open deliveries are not sent."
        @Argument(help: "The subscriptions' ids, as \"webhooks list\" shows them.") var ids: [String]

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            for id in ids { try await client.send(ControlCall(.DELETE, "/_sim/webhooks/\(id)")) }
            terminal.done("removed")
        }
    }
}
