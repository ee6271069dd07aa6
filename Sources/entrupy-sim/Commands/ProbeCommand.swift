import ArgumentParser
import EntrupyAPI
import Foundation
import NIOCore
import NIOPosix
import Outgoing
import Server
import SimulationAPI

extension WebhooksCommand {
    struct Probe: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "probe",
            abstract:
                "Send right, repeated, unsigned and wrongly signed deliveries to a receiver, and say which it took.",
            discussion: """
                webhooks probe http://127.0.0.1:3000/hooks --secret whsec_1234567890

                webhooks probe http://127.0.0.1:3000/hooks --secret whsec_1234567890 --item QZ5HXWOU

                Without --item it needs no server: the item is an authentic one of DemoOrg, named entrupy-sim-probe. Exits 1 if the receiver \
                refuses a right or repeated delivery in the form of --signature, takes an unsigned or wrongly signed one in any form, or \
                fails: an answer from 500 is no refusal.
                """)

        @Argument(help: "The URL of the receiver.") var url: String
        @Option(help: "The secret_key with which the receiver checks signatures.") var secret: String
        @Option(
            help:
                "The entrupy_id of an item to send, of the server of --url and its namespace. (default: an item made for this)"
        )
        var item: String?
        @Option(
            name: .customLong("url"), help: "The server of --item, or a namespace's URL. (default: ENTRUPY_SIM_URL)")
        var server: String?
        @Option(
            name: [.customShort("n"), .long],
            help: "The namespace of --item. (default: that of --url, ENTRUPY_SIM_NAMESPACE)")
        var namespace: String?
        @Option(help: "The form of the signature that the receiver must take: sha256-base64, sha256-hex or hex.")
        var signature = WebhookSignatureForm.base64
        @Option(help: "The longest time for each answer, for instance 10s or 1m.") var timeout = DurationArgument(
            argument: "10s")
        @Option(
            help:
                "A file of certificates in PEM that the receiver may have or come from, beside the system's and those of SSL_CERT_FILE. (default: none)"
        )
        var webhookCa: String?
        @Flag(help: "Print JSON.") var json = false

        func validate() throws {
            try require(
                isWebURL(url),
                "the receiver must be an http or https URL such as http://127.0.0.1:3000/hooks, got \(url)")
            try require((1...256).contains(secret.utf8.count), "--secret must have 1 to 256 UTF-8 bytes")
            try timeout.check("--timeout", to: "5m")
            try require(item != nil || server == nil && namespace == nil, "--url and --namespace belong to --item")
        }

        func run() async throws {
            if let webhookCa { try Encryption.trust(webhookCa, option: "--webhook-ca") }
            let addresses = try await addresses()
            let body =
                if let item {
                    try await Self.body(
                        of: item,
                        ControlClient(
                            options: try ControlOptions.parse(
                                (server.map { ["--url", $0] } ?? []) + (namespace.map { ["-n", $0] } ?? []))))
                } else { try await Self.body() }
            let results = await WebhookProbe(options: self, body: body, addresses: addresses).run()
            try show(results, Terminal(isJSON: json))
            guard results.allSatisfy(\.ok) else { throw ExitCode(Refusal.Code.no.rawValue) }
        }

        /// The addresses of the URL's name that a server sends webhooks to, or all of them if it sends none there; `nil` if the URL has an
        /// address.
        private func addresses() async throws -> [String]? {
            guard case .success(let target) = ServerWebhookTarget.read(url) else { return nil }
            if let address = target.address {
                guard !address.isMetadata else { throw Self.metadata(target.host, target.host) }
                return nil
            }
            let found: [String]
            do {
                found = try await ServerResolver.addresses(of: target.host, within: .seconds(10))
            } catch {
                throw Refusal(.no, "\(target.host) cannot be resolved", next: "is the name of the receiver right?")
            }
            if let refused = target.refused(of: found) {
                if target.isMetadata(refused) { throw Self.metadata(target.host, refused) }
                Terminal(isJSON: json).note(
                    "note: \(target.host) is \(refused), not a loopback or private address; a server sends webhooks there only with --webhook-targets any"
                )
                return found
            }
            return found.filter(target.allows)
        }

        /// Who answers there gives away the machine's credentials.
        private static func metadata(_ host: String, _ address: String) -> Refusal {
            let name = host == address ? host : "\(host), \(address),"
            return Refusal(
                .no, "\(name) is the address of a cloud's metadata service, to which nothing is sent",
                next: "is the name of the receiver right?")
        }

        /// The body of a real delivery: an item that a server in memory makes.
        private static func body() async throws -> Data {
            let server = try await OwnServer.start(recording: nil)
            do {
                let client = ControlClient(options: try ControlOptions.parse(["--url", server.url, "-n", "default"]))
                let made: GeneratedItems = try await client.post(
                    "/_sim/authentications",
                    body: ["result": "authentic", "customer_item_id": "entrupy-sim-probe"])
                let body = try await body(of: made.entrupy_ids.first ?? "", client)
                await server.stop()
                return body
            } catch {
                await server.stop()
                throw error
            }
        }

        /// The body of a delivery about an item of a server.
        private static func body(of item: String, _ client: ControlClient) async throws -> Data {
            let known: AuthenticationInfo = try await client.get("/_sim/authentications/\(item)")
            let token = try await client.apiToken(ofUser: known.username) ?? ""
            // Decoded and encoded again, so that its members have the order of a webhook's.
            let answer: ItemAnswer<V1Item> = try await client.send(
                ControlCall(
                    .GET, "/v1/authentications/\(known.entrupy_id)",
                    headers: [("Authorization", "Token \(token)"), ("Api-Version", "1.4")])
            ).decoded()
            return Data(
                JSONDocument.object([("items", .array([try JSONDocument(encoding: answer.item)]))]).bytes(
                    isSpaced: true))
        }

        private func show(_ results: [WebhookProbe.Result], _ terminal: Terminal) throws {
            if json { return try terminal.json(of: ["deliveries": results]) }
            terminal.table(
                ["DELIVERY", "SIGNATURE", "ANSWER", "VERDICT"],
                results.map { [$0.delivery, $0.signature ?? "-", $0.answer, $0.verdict] }, empty: "")
            let right = results.filter { $0.delivery == "right" }
            if right.first?.taken == false, let other = right.first(where: \.taken)?.signature {
                terminal.note("note: it takes the form \(other): is --signature \(other) meant?")
            }
            if let failed = results.first(where: \.failed) {
                let text = failed.answered.map { ": \($0)" } ?? ", without a text"
                terminal.note("note: the receiver failed with \(failed.answer)\(text)")
            }
        }
    }
}

/// The deliveries that a receiver is tried with.
struct WebhookProbe: Sendable {
    let options: WebhooksCommand.Probe
    let body: Data
    /// The addresses of the receiver's name, which are tried in turn; `nil` if the URL has an address.
    let addresses: [String]?
    /// In seconds.
    private var timeout: Double { options.timeout.seconds ?? 10 }

    /// The answer to a delivery, and whether it is the one that a careful receiver gives.
    struct Result: Encodable, Sendable {
        /// `right`, `repeated`, `unsigned`, `wrong secret` or `changed body`.
        let delivery: String
        /// The form of the signature; null if there was none.
        @Nullable var signature: String?
        /// The status of the answer; null if there was none.
        @Nullable var status: Int?
        /// The reason why there was no answer; null if there was one.
        @Nullable var error: String?
        /// The beginning of the text of an answer from 500; null for other answers.
        @Nullable var answered: String?
        /// Whether the delivery must be taken; null if that depends on the receiver.
        @Nullable var expected: Bool?
        let taken: Bool
        /// Whether the answer is right, or does not matter.
        let ok: Bool

        /// Whether the receiver failed, which is no refusal.
        var failed: Bool { status.map { $0 >= 500 } ?? false }

        /// Whether the receiver's server has nothing at the path of the URL, or nothing that takes a POST.
        var isNowhere: Bool { status == 404 || status == 405 }

        var answer: String { status.map { "\($0)" } ?? error ?? "none" }

        var verdict: String {
            if failed { return "WRONG: the receiver failed" }
            if expected == true, isNowhere { return "WRONG: no receiver at this path" }
            if expected == nil { return taken ? "taken" : "not taken, and need not be" }
            if status == nil { return "WRONG: no answer" }
            return "\(ok ? "ok" : "WRONG"): \(taken ? "taken" : "refused")"
        }
    }

    /// Sends all deliveries, one after the other.
    func run() async -> [Result] {
        var results: [Result] = []
        let (wanted, secret) = (options.signature, options.secret)
        let forms = [wanted] + WebhookSignatureForm.allCases.filter { $0 != wanted }
        for form in forms {
            let isWanted = form == wanted
            for delivery in isWanted ? ["right", "repeated"] : ["right"] {
                results.append(await send(delivery, form, body, secret, isWanted ? true : nil))
                // Nobody is there: the others would only take as long again.
                if results[0].status == nil { return results }
            }
        }
        // Nothing is there that could refuse a delivery.
        if results.allSatisfy(\.isNowhere) { return results }
        results.append(await send("unsigned", nil, body, secret, false))
        // The item is another than the one that was signed.
        let changed = Data(Self.changed(String(decoding: body, as: UTF8.self)).utf8)
        for form in forms {
            results.append(await send("wrong secret", form, body, secret + "x", false))
            results.append(await send("changed body", form, changed, secret, false))
        }
        return results
    }

    /// A body about another item: the last character of its id is another.
    private static func changed(_ body: String) -> String {
        guard let id = body.firstMatch(of: #/"entrupy_id": "([^"]+)"/#)?.output.1, let last = id.last else {
            return body + " "
        }
        return body.replacing(id, with: id.dropLast() + (last == "A" ? "B" : "A"))
    }

    /// Why there was no answer, in words.
    private func text(of error: any Error) -> String {
        switch error {
        case OutgoingError.deadlineExceeded: "no answer within \(DurationText.text(seconds: timeout))"
        case OutgoingError.closedBeforeAnswer, OutgoingError.closedInAnswer: "the connection was closed"
        case OutgoingError.withoutEncryption: "no connection: this program was built without HTTPS"
        case is AnswerTooLong: "an answer that does not end"
        case let error as NIOConnectionError: error.text { text(of: $0) }
        case let error as IOError: String(cString: strerror(error.errnoCode)).lowercased()
        case ChannelError.connectTimeout: "no connection within \(DurationText.text(seconds: timeout))"
        default:
            OutgoingClient.installedEncryption?.reason(of: error).map { "no connection over TLS: \($0)" }
                ?? "no HTTP answer"
        }
    }

    /// - Parameter secret: the key that signs the right body, whatever is sent.
    private func send(
        _ delivery: String, _ form: WebhookSignatureForm?, _ sent: Data, _ secret: String, _ expected: Bool?
    ) async -> Result {
        var (status, problem, answered): (Int?, String?, String?)
        var sentRequest: OutgoingRequest?
        do {
            var request = try OutgoingRequest(.POST, options.url)
            request.headers.add(name: "Content-Type", value: "application/json")
            request.headers.add(name: "User-Agent", value: "entrupy-sim")
            request.headers.add(name: "X-Sim-Event", value: "session.completed")
            request.headers.add(
                name: "X-Sim-Event-Id",
                value: "entrupy-sim-probe-\((delivery == "repeated" ? "right" : delivery).replacing(" ", with: "-"))")
            let signatures = WebhookSignatureCheck("", of: body, secret: secret, form: nil).expected
            if let signature = signatures.first(where: { $0.form == form })?.text {
                request.headers.add(name: WebhookSignatureForm.header, value: signature)
            }
            request.body = .bytes(ByteBuffer(bytes: sent))
            request.addresses = addresses
            sentRequest = request
            let time = TimeAmount.milliseconds(Int64(timeout * 1000))
            // The addresses and limits of a server's webhooks.
            (status, answered) = try await OutgoingClient(answerLimit: .webhook).exchange(
                request, deadline: .now() + time
            ) { answer in
                (answer.status, answer.status >= 500 ? await Self.beginning(of: answer) : nil)
            }
        } catch {
            let reason = text(of: error)
            problem = sentRequest?.located(reason, error) ?? reason
        }
        let isTaken = status.map { (200...299).contains($0) } ?? false
        return Result(
            delivery: delivery, signature: form?.rawValue, status: status, error: problem, answered: answered,
            expected: expected, taken: isTaken,
            ok: status.map { $0 < 500 && (expected ?? isTaken) == isTaken } ?? (expected == nil))
    }

    /// The first bytes of an answer's text; `nil` if it has none.
    private static func beginning(of answer: OutgoingAnswer) async -> String? {
        var bytes: [UInt8] = []
        do {
            for try await part in answer.body {
                bytes += part.readableBytesView.prefix(300 - bytes.count)
                if bytes.count >= 300 { break }
            }
        } catch {
            // The bytes before the end are shown.
        }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }
}
