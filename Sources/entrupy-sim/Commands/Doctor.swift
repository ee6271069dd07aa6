import ArgumentParser
import Console
import Foundation
import NIOCore
import NIOPosix
import Outgoing
import SimulationAPI

/// `entrupy-sim doctor`: checks the server and this machine, and says what to do about problems.
struct Doctor: ControlAction {
    static let abstract = "Check the server and this machine. Exits 1 if something is wrong, 69 if there is no server."

    private struct Finding: Encodable {
        enum Level: String, Encodable {
            case good = "ok"
            case note
            case bad = "wrong"
        }

        let level: Level
        let check: String
        let text: String
        @Nullable var next: String?

        init(_ level: Level, _ check: String, _ text: String, next: String? = nil) {
            self.level = level
            self.check = check
            self.text = text
            self.next = next
        }
    }

    func run(_ client: ControlClient, _ terminal: Terminal) async throws {
        var findings = [openFiles(), encryption()]
        var hasServer = true
        do {
            findings += try await server(client)
        } catch let refusal as Refusal {
            hasServer = refusal.code != .noServer
            findings.append(Finding(.bad, "server", refusal.message, next: refusal.next))
        }
        if let addresses = await addresses(client.options.base) { findings.append(addresses) }
        try show(findings, terminal)
        guard hasServer else { throw ExitCode(Refusal.Code.noServer.rawValue) }
        if findings.contains(where: { $0.level == .bad }) { throw ExitCode(Refusal.Code.no.rawValue) }
    }

    private func show(_ findings: [Finding], _ terminal: Terminal) throws {
        guard !terminal.isJSON else { return try terminal.json(of: ["findings": findings]) }
        let styles: [Finding.Level: Terminal.Style] = [.good: .green, .note: .yellow, .bad: .red]
        for finding in findings {
            let mark = finding.level.rawValue.padding(toLength: "wrong".count, withPad: " ", startingAt: 0)
            terminal.line([.init(mark, styles[finding.level]), "  \(finding.check): \(finding.text)"])
            if let next = finding.next { terminal.line("       \(next)") }
        }
    }

    private func openFiles() -> Finding {
        let connections = OpenFiles.raiseLimit()
        return connections >= 1000
            ? Finding(.good, "open files", "enough for \(min(connections, 65_536)) connections")
            : Finding(
                .note, "open files", "the limit leaves \(connections) connections",
                next: "raise it with \"ulimit -n 65536\" before \"entrupy-sim serve\"")
    }

    private func encryption() -> Finding {
        Encryption.isBuiltIn
            ? Finding(.good, "https", "built in")
            : Finding(
                .note, "https", "this program was built without it: no --tls-port, no https addresses",
                next: Encryption.advice)
    }

    private func server(_ client: ControlClient) async throws -> [Finding] {
        let info: ServerInfo = try await client.get("/_sim/info")
        let findings: [Finding?] = [
            Finding(
                .good, "server", "\(client.options.base), up for \(DurationText.text(seconds: info.uptime.rounded()))"),
            info.version == Release.version
                ? Finding(.good, "version", info.version)
                : Finding(
                    .bad, "version", "the server is \(info.version), this program \(Release.version)",
                    next: "restart the server with this program, or use the program of the server's version"),
            info.data_dir.map { Finding(.good, "data", "in \($0)") }
                ?? Finding(.note, "data", "in memory: nothing survives a stop"),
            info.data_dir.flatMap(space), hosts(info.refused), clock(info.namespace, client),
            step(info.machine_clock_step),
        ]
        let damaged = (info.damaged ?? []).map { damaged in
            Finding(
                .bad, "namespaces", "\(damaged.name) cannot be opened: \(damaged.problem)",
                next: "bring its file back, or begin anew with "
                    + "\"\(client.options.serverCommand("reset \(Shell.option("-n", damaged.name))"))\", which renames the file"
            )
        }
        return try await (findings + damaged + webhooks(client) + [failedDueWork(client), rules(client)])
            .compactMap(\.self)
    }

    /// The loopback addresses that the server answers at: clients try those of `localhost` in either order. `nil` if its URL names
    /// another machine.
    private func addresses(_ base: String) async -> Finding? {
        guard let url = URLComponents(string: base), url.scheme == "http",
            ["localhost", "127.0.0.1", "[::1]"].contains(url.host?.lowercased()),
            let ping = try? OutgoingRequest(.GET, "http://localhost:\(url.port ?? 80)/_sim/ping")
        else { return nil }
        var (answering, silent): ([String], [String]) = ([], [])
        for address in ["127.0.0.1", "::1"] {
            var request = ping
            request.addresses = [address]
            do {
                _ = try await OutgoingClient(connectTimeout: .seconds(2))
                    .exchange(request, deadline: .now() + .seconds(5)) { $0.status }
                answering.append(address)
            } catch {
                // A machine without the address has no client that tries it.
                if !Self.isMissing(error) { silent.append(address) }
            }
        }
        let port = url.port ?? 80
        guard let first = answering.first else {
            return Finding(.note, "addresses", "neither 127.0.0.1 nor ::1 answers on port \(port)")
        }
        guard let other = silent.first else {
            let verb = answering.count == 1 ? "answers" : "answer"
            return Finding(.good, "addresses", "\(answering.joined(separator: " and ")) \(verb)")
        }
        return Finding(
            .note, "addresses", "\(first) answers, \(other) does not",
            next: "clients of http://localhost:\(port) may try \(other) first; a server without --host has both")
    }

    /// Whether a connection failed because this machine has no such address.
    private static func isMissing(_ error: any Error) -> Bool {
        let errors = (error as? NIOConnectionError)?.connectionErrors.map(\.error) ?? [error]
        return errors.contains {
            [EADDRNOTAVAIL, ENETUNREACH, EAFNOSUPPORT].contains(($0 as? IOError)?.errnoCode)
        }
    }

    private func clock(_ namespace: NamespaceInfo, _ client: ControlClient) -> Finding {
        if let note = namespace.notes?.first {
            return Finding(
                .note, "clock", note.problem.components(separatedBy: ". Freeze at the present")[0],
                next: client.options.serverCommand("namespace make NAME --freeze now"))
        }
        return namespace.clock.mode == "frozen"
            ? Finding(
                .note, "clock", "\(namespace.name) is frozen at \(namespace.clock.now)",
                next: "results, retries and timeouts come only with \"\(client.options.command("clock advance"))\"")
            : Finding(.good, "clock", "\(namespace.name) is running, \(namespace.clock.now)")
    }

    /// The step of the machine's clock, which the server's clocks have not followed; `nil` if there was none.
    private func step(_ seconds: Double?) -> Finding? {
        guard let seconds, abs(seconds) >= 1 else { return nil }
        let amount = Readable.count(Int(min(abs(seconds), 1e12).rounded()), "second")
        return Finding(
            .note, "machine's clock", "set \(seconds > 0 ? "forward" : "back") by \(amount) since the server started",
            next: "running clocks go on as before; start the server again if they shall show the machine's time")
    }

    /// The requests that were refused for their host or origin, and the options that allow the latest of them.
    private func hosts(_ refused: RefusedSummary?) -> Finding? {
        guard let refused else { return nil }
        guard refused.count > 0 else { return Finding(.good, "hosts", "no request was refused") }
        let latest = refused.latest.prefix(5).map {
            "\($0.header) \($0.value) (\($0.count), the last at \(Readable.time($0.last_real)))"
        }
        return Finding(
            .note, "hosts",
            "\(Readable.count(refused.count, "request")) refused, for instance \(latest.joined(separator: "; "))",
            next: "a host of yours needs --allowed-hosts, an origin of yours --cors; the others are refused rightly"
        )
    }

    /// The free disk space, if the server's directory is on this machine.
    private func space(_ directory: String) -> Finding? {
        // The server's directory may be on another machine.
        let attributes = try? FileManager.default.attributesOfFileSystem(forPath: directory)
        guard let free = (attributes?[.systemFreeSize] as? NSNumber)?.int64Value else { return nil }
        let text = "\(SizeText.text(Int(free))) free"
        return free > 1 << 30
            ? Finding(.good, "space", text)
            : Finding(.bad, "space", text, next: "free some space, or start the server with another --data-dir")
    }

    private func webhooks(_ client: ControlClient) async throws -> [Finding] {
        // Verification requests to domains are reported with their subscriptions.
        let failed = try await deliveries("failed", client).filter { $0.format != nil }
        // A delivery that a fault delays also has the status `retrying`, but no attempt yet. That is not a problem.
        let retried = try await deliveries("retrying", client).filter { $0.format != nil && !$0.attempts.isEmpty }
        var findings = failed.prefix(1).map {
            Finding(
                .bad, "webhooks", "\(Self.count(failed)) failed, the last: \(Self.reason($0))",
                next: "send it again with \"\(client.options.command("deliveries redeliver \(Shell.operand($0.id))"))\""
            )
        }
        if let last = retried.first {
            let moment = last.next_attempt_at.map { ", next at \(Readable.time($0))" } ?? ""
            let text = "\(Self.count(retried)) failed and will be retried\(moment), the last: \(Self.reason(last))"
            let next = "does \(last.url?.maskingQuery ?? "the receiver") answer? see the attempts with "
            findings.append(
                Finding(
                    .bad, "webhooks", text,
                    next: next + "\"\(client.options.command("deliveries list --status retrying"))\""))
        }
        if findings.isEmpty { findings.append(Finding(.good, "webhooks", "none failed")) }
        return try await findings + subscriptions(client)
    }

    /// The forms of each subscription's webhooks, and the subscriptions whose domain is not verified.
    private func subscriptions(_ client: ControlClient) async throws -> [Finding] {
        let all: SubscriptionInfoList = try await client.get("/_sim/webhooks")
        let active = all.webhooks.filter { $0.status == "active" }
        var findings: [Finding] = all.webhooks.filter { $0.status == "pending" }.map { pending in
            Finding(
                .bad, "webhooks",
                "\(pending.id) to \(pending.url) is pending: its domain is not verified, so it gets no deliveries",
                next: "answer \(pending.verification ?? "its verification") as text at "
                    + "/.well-known/entrupy-domain-verification/\(pending.id), then POST /v2/webhooks/\(pending.id)/verify"
            )
        }
        let forms = Set(active.map { "format \($0.format), signature \($0.signature)" }).sorted()
        if !forms.isEmpty {
            let count = Readable.count(active.count, "subscription")
            findings.append(Finding(.good, "webhooks", "\(count): \(forms.joined(separator: "; "))"))
        }
        return findings + equal(all.webhooks, client)
    }

    /// The subscriptions that equal another one, so that their URL gets every event more than once.
    private func equal(_ subscriptions: [SubscriptionInfo], _ client: ControlClient) -> [Finding] {
        let groups = Dictionary(grouping: subscriptions) { one in
            [
                one.organization, one.url, one.events.sorted().joined(separator: " "), one.username ?? "", one.version,
                one.format, one.signature,
            ]
        }
        return groups.values.filter { $0.count > 1 }.sorted { $0[0].id < $1[0].id }.map { group in
            Finding(
                .note, "webhooks",
                "\(group.map(\.id).joined(separator: ", ")) are equal: \(group[0].url) gets each event \(group.count) times",
                next: "delete all but one with \"\(client.options.command("webhooks remove"))\", unless that is meant")
        }
    }

    private func deliveries(_ status: String, _ client: ControlClient) async throws -> [WebhookDelivery] {
        let list: WebhookDeliveryList = try await client.get(
            "/_sim/webhook-deliveries", [("status", status), ("limit", "100")])
        return list.deliveries
    }

    private static func count(_ deliveries: [WebhookDelivery]) -> String {
        "\(deliveries.count)\(deliveries.count == 100 ? " or more" : "")"
    }

    private static func reason(_ delivery: WebhookDelivery) -> String {
        delivery.attempts.last.flatMap { $0.error ?? $0.status.map { "status \($0)" } } ?? "no attempt"
    }

    /// The number of events from which the rest is not counted. A server may list them without an end.
    private static let maxEvents = 1000

    /// Scheduled work that failed and was set aside.
    private func failedDueWork(_ client: ControlClient) async throws -> Finding? {
        let failed = try await client.events(of: "due_work.failed", limit: Self.maxEvents)
        guard let last = failed.first else { return nil }
        let (kind, problem) = (last.data.members?["kind"]?.text ?? "", last.data.members?["problem"]?.text ?? "")
        return Finding(
            .bad, "due work",
            "\(failed.count)\(failed.count < Self.maxEvents ? "" : " or more") failed and will not run, the last: \(kind) of \(last.subject): \(problem)",
            next: "see all with: curl \(Shell.quoted("\(client.options.base)/_sim/event-log?kind=due_work.failed"))"
        )
    }

    private func rules(_ client: ControlClient) async throws -> Finding? {
        let list: FaultList = try await client.get("/_sim/faults")
        let spent = list.faults.count { $0.isSpent }
        let active = list.faults.count - spent
        let spentText = spent > 0 ? "\(Readable.count(spent, "rule")) used up" : nil
        guard active > 0 else { return spentText.map { Finding(.good, "faults", "none active, \($0)") } }
        let activeText = "\(Readable.count(active, "rule")) active: some requests or webhooks fail on purpose"
        return Finding(
            .note, "faults", [activeText, spentText].compactMap(\.self).joined(separator: "; "),
            next:
                "see them with \"\(client.options.command("fault list"))\", remove them with \"\(client.options.command("fault clear"))\""
        )
    }
}
