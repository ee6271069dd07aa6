import ArgumentParser
import EntrupyAPI
import Server
import SimulationAPI

struct WebhooksCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webhooks",
        abstract: "Subscribe to webhooks, list the subscriptions, receive webhooks, and test receivers.",
        subcommands: [
            List.command, Add.command, Remove.command, Listen.command, Probe.self, Verify.self,
        ])

    struct List: Endpoint {
        static let abstract = "List the subscriptions."

        func call() -> ControlCall {
            ControlCall(.GET, "/_sim/webhooks").listing(
                \SubscriptionInfoList.webhooks, empty: "no subscriptions",
                ["ID", "ORGANIZATION", "USER", "VERSION", "FORMAT", "SIGNATURE", "STATUS", "URL"]
            ) { [$0.id, $0.organization, $0.username, $0.version, $0.format, $0.signature, $0.status, $0.url] }
        }
    }

    struct Verify: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "verify",
            abstract: "Check a webhook's signature. If it is wrong, exits 1 and shows it in each form.",
            discussion: "Needs no server.")

        @Option(help: "The secret_key of the subscription.") var secret: String
        @Option(help: "The value of the header Entrupy-Signature.") var signature: String
        @Option(help: "The form it must have: sha256-base64, sha256-hex or hex. (default: any)")
        var form: WebhookSignatureForm?
        @Flag(help: "Print JSON.") var json = false
        @Argument(help: "A file with the body's bytes as they arrived; - for standard input.") var file: String

        func run() async throws {
            let body = try InputFile.bytes(
                file, next: "name a file with the body's bytes, or - for standard input")
            let check = WebhookSignatureCheck(signature, of: body, secret: secret, form: form)
            let terminal = Terminal(isJSON: json)
            if json {
                let expected = check.expected.map { ($0.form.rawValue, $0.text) }
                try terminal.json(
                    of: SignatureCheckResult(
                        valid: check.form != nil, form: check.form?.rawValue, hint: check.hint,
                        expected: Dictionary(expected) { $1 }))
            } else if let form = check.form {
                terminal.line("right: \(form.rawValue)")
            } else {
                terminal.line("wrong\(check.hint.map { ": \($0)" } ?? ": it does not fit this body and secret")")
                terminal.table(
                    ["FORM", "IT WOULD BE"], check.expected.map { [$0.form.rawValue, $0.text] }, empty: "")
            }
            if check.form == nil { throw ExitCode(Refusal.Code.no.rawValue) }
        }
    }
}

extension WebhookSignatureForm: ExpressibleByArgument {}
