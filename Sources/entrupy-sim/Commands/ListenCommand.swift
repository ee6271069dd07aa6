import ArgumentParser
import Console
import EntrupyAPI
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import Server
import SimulationAPI

extension WebhooksCommand {
    struct Listen: ControlAction {
        static let abstract = "Receive webhooks here: subscribe, print each delivery, and unsubscribe at the end."
        static let discussion = """
            webhooks listen
            webhooks listen --events session.completed --json
            webhooks listen --listen-url http://192.168.1.5:9000/hooks

            Listens on a free port of 127.0.0.1. A delivery is a line: the event, the item, its result, and the status of the answer, \
            which is 200, or 401 for a wrong signature. With --json it is an object with the body. Ends with Ctrl-C or SIGTERM.
            """
        static let optionNames = SubscriptionOptions.names
        @OptionGroup var options: SubscriptionOptions
        @Option(
            help:
                "The URL at which a server on another machine reaches this command, which then listens on that port of all its addresses. (default: http://127.0.0.1:PORT/webhooks)"
        )
        var listenUrl: String?
        @Option(help: "The port to listen on. (default: that of --listen-url, or a free one)") var port: Int?

        func validate() throws {
            if let listenUrl {
                try require(
                    isWebURL(listenUrl),
                    "--listen-url must be an http or https URL such as http://192.168.1.5:9000/hooks, got \(listenUrl)")
            }
            if let port { try require((0...65_535).contains(port), "--port must be 0 to 65535, got \(port)") }
        }

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            let ends = Self.ends()
            let listener = try await listener()
            let url = listenUrl ?? "http://127.0.0.1:\(listener.port)/webhooks"
            let listening = Listening(client: client, terminal: terminal, options: options, url: url)
            do {
                try await listening.run(listener.requests, until: ends)
            } catch {
                await listener.close()
                // The first error is the one to report.
                if (error as? Refusal)?.code != .noServer { try? await listening.unsubscribe() }
                throw error
            }
            try await listening.unsubscribe()
            await listener.close()
            terminal.note("unsubscribed, after \(Readable.count(listening.count, "webhook"))")
            if Terminal.hasLostReader { throw ExitCode(128 + SIGPIPE) }
        }

        /// The ends of the command: a signal, or a closed standard output. A second signal ends the program at once.
        private static func ends() -> AsyncStream<Void> {
            let (stream, sink) = AsyncStream.makeStream(of: Void.self)
            _ = SignalWatch.ignore(SIGPIPE)
            Terminal.onLostReader { sink.yield() }
            let signals = SignalWatch.start([SIGINT, SIGTERM, SIGHUP])
            Task {
                var isFirst = true
                for await number in signals {
                    guard isFirst else { Foundation.exit(128 + number) }
                    isFirst = false
                    sink.yield()
                }
            }
            return stream
        }

        /// The address to listen on, for the host of `--listen-url`: all addresses of this machine, unless only this machine can
        /// reach the host.
        private static func address(for host: String?) -> String {
            guard let host, host != "localhost", !host.hasPrefix("127.") else { return "127.0.0.1" }
            return host == "::1" ? host : host.contains(":") ? "::" : "0.0.0.0"
        }

        private func listener() async throws -> WebhookListener {
            let given = listenUrl.flatMap { URL(string: $0) }
            let ofURL = given.map { $0.port ?? ($0.scheme == "https" ? 443 : 80) }
            let wanted = port ?? ofURL ?? 0
            let host = Self.address(for: given?.host)
            do {
                return try await WebhookListener.open(host: host, port: wanted)
            } catch {
                let reason = (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)"
                throw Refusal(
                    .no, "port \(wanted) of \(host) cannot be listened on: \(reason)",
                    next: "name another one with --port; --listen-url may lead to it from elsewhere")
            }
        }
    }
}

/// A subscription while this program receives its deliveries.
private struct Listening: Sendable {
    let client: ControlClient
    let terminal: Terminal
    let options: SubscriptionOptions
    let url: String
    /// The key of the deliveries' signatures, which only this program and the server know.
    private let secret = (0..<4).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined()
    /// The id of the subscription; `nil` before it is made, and once it is deleted.
    private let subscription = NIOLockedValueBox<String?>(nil)
    private let received = NIOLockedValueBox(0)

    private var id: String? { subscription.withLockedValue { $0 } }
    var count: Int { received.withLockedValue { $0 } }

    private func subscribe() async throws {
        let made: SubscriptionInfo = try await client.post(
            "/_sim/webhooks", body: options.body(url: url, secret: secret))
        subscription.withLockedValue { $0 = made.id }
        let place = client.options.named == "default" ? "" : " of the namespace \(client.options.named)"
        terminal.note("\(made.id)\(place) sends its webhooks to \(url); Ctrl-C ends it")
    }

    /// Deletes the subscription, unless it has gone with the namespace's data.
    func unsubscribe() async throws {
        guard let id else { return }
        subscription.withLockedValue { $0 = nil }
        do {
            try await client.send(ControlCall(.DELETE, "/_sim/webhooks/\(id)"))
        } catch let refusal as Refusal where refusal.isNotFound {}
    }

    /// Subscribes, and prints deliveries until `ends` says so.
    ///
    /// - Throws: ``Refusal`` if the server stops, or the namespace or the subscription is deleted.
    func run(_ requests: AsyncStream<WebhookListener.Request>, until ends: AsyncStream<Void>) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for await request in requests { await receive(request) } }
            group.addTask { try await follow() }
            group.addTask { for await _ in ends { return } }
            defer { group.cancelAll() }
            _ = try await group.next()
        }
    }

    // MARK: The server

    /// Follows the changes of the namespace, and subscribes once they come, so that none is missed. Does not return.
    private func follow() async throws {
        do {
            try await client.listen([("types", "state")]) { name, data in
                if name == "open" { try await subscribe() }
                if name == "world.replaced" { try await subscribeAgain() }
                guard name == "state", let change = try? WireJSON.decode(StateChange.self, from: data),
                    change.kind == "subscription.deleted", let id, change.subject == id
                else { return true }
                throw Refusal(.no, "the subscription \(id) was deleted, so webhooks do not come any more")
            }
        } catch let refusal as Refusal where refusal.code == .no {
            // The namespace or the subscription was deleted.
            subscription.withLockedValue { $0 = nil }
            throw refusal
        } catch let refusal as Refusal where refusal.code == .noServer {
            guard let id else { throw refusal }
            let old =
                "the subscription stays if its data are kept: \(client.options.command("webhooks remove \(Shell.operand(id))"))"
            throw Refusal(
                .noServer, "the server at \(client.options.base) stopped, so webhooks do not come any more",
                next: "start it again with \"entrupy-sim serve\", then repeat this command\n\(old)")
        }
    }

    /// Subscribes after a reset or restore, unless what was restored has the subscription.
    private func subscribeAgain() async throws {
        let all: SubscriptionInfoList = try await client.get("/_sim/webhooks")
        if let id, all.webhooks.contains(where: { $0.id == id && $0.url == url }) { return }
        terminal.note("the namespace was reset or restored")
        try await subscribe()
    }

    // MARK: Deliveries

    private func receive(_ request: WebhookListener.Request) async {
        if request.method == .GET, let text = await verification(request.path) { return request.answer(200, text) }
        let ofURL = URL(string: url)?.path(percentEncoded: true) ?? ""
        let path = ofURL.isEmpty ? "/" : ofURL
        guard request.method == .POST, request.path.prefix(while: { $0 != "?" }) == path else {
            return request.answer(404, "webhooks come by POST \(path)\n")
        }
        let signature = request.headers.first(name: WebhookSignatureForm.header) ?? ""
        let isSigned = WebhookSignatureCheck(signature, of: request.body, secret: secret).form != nil
        show(request, isSigned: isSigned)
        received.withLockedValue { $0 += 1 }
        request.answer(isSigned ? 200 : 401, "")
    }

    /// The text that the server expects of a domain at this path; `nil` if it expects none. It may ask before it has answered the
    /// subscription, so the list of subscriptions says it.
    private func verification(_ path: String) async -> String? {
        let start = "/.well-known/entrupy-domain-verification/"
        guard path.hasPrefix(start), let all: SubscriptionInfoList = try? await client.get("/_sim/webhooks") else {
            return nil
        }
        return all.webhooks.first { $0.url == url && path == start + $0.id }?.verification
    }

    /// The maximum size of a body that is shown although its signature is wrong, in bytes.
    private static let maxUnsignedBytes = 65_536

    private func show(_ request: WebhookListener.Request, isSigned: Bool) {
        // Decoding takes longer than the check of the signature, so that of any sender is not decoded if it is large.
        let isDecoded = isSigned || request.body.count <= Self.maxUnsignedBytes
        let body = isDecoded ? InputFile.value(request.body) : .null
        // The forms `event` and `items`.
        let shown = body.members?["data"]?.members ?? body.members?["items"]?.elements?.first?.members
        let event = request.headers.first(name: "X-Sim-Event")
        let item = shown?["entrupy_id"]?.text
        let resultID = shown?["status"]?.members?["result"]?.members?["id"]?.text
        guard !terminal.isJSON else {
            func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }
            let delivery: JSONValue = [
                "event": text(event), "event_id": text(request.headers.first(name: "X-Sim-Event-Id")),
                "entrupy_id": text(item), "result": text(resultID), "status": .number(JSONNumber(isSigned ? 200 : 401)),
                "signature_valid": .bool(isSigned), "body": body,
            ]
            // A decoded value can be encoded.
            try? terminal.json(of: delivery)
            return
        }
        let answer: Terminal.Piece = isSigned ? .init("200", .green) : .init("401 wrong signature", .red)
        let width = WebhookEvent.allCases.map(\.rawValue.count).max() ?? 0
        let space = String(repeating: " ", count: max(0, width - (event ?? "-").count))
        let rest = "\(space)  \(item ?? "-")  \(resultID ?? "-")  "
        terminal.line([Terminal.Piece(event ?? "-", .bold), Terminal.Piece(rest), answer])
    }
}

extension Refusal {
    /// The code of the server's error; `nil` if it answered none.
    private var serversCode: String? {
        // Another answer has no code.
        answer.flatMap { try? WireJSON.decode(ErrorEnvelope.self, from: $0) }?.code
    }

    /// Whether the server answered that what was named is not there.
    var isNotFound: Bool { serversCode == "not_found" }

    /// Whether the server answered that there is no such namespace.
    var isOfNoNamespace: Bool {
        serversCode == "unknown_namespace" || isNotFound && message.hasPrefix("there is no namespace")
    }

    /// The message, with the details that it does not say itself.
    var fullText: String {
        let more = details.filter { !says($0.problem) }.map { "\($0.field): \($0.problem)" }
        return ([message] + more).joined(separator: "; ")
    }
}
