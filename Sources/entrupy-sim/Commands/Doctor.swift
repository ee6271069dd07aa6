import ArgumentParser
import Console
import Foundation
import SimulationAPI

/// `entrupy-sim doctor`: checks the server and this machine, and says what to do about problems.
struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check the server and this machine. Exits 1 if something is wrong, 69 if there is no server.")

    @OptionGroup var control: ControlOptions

    /// The result of one check.
    private struct Finding {
        enum Level: String {
            case good = "ok"
            case note
            case bad = "wrong"
        }

        let check: String
        let level: Level
        let text: String
        var next: String?
    }

    func run() async throws {
        let terminal = Terminal(isJSON: control.json)
        var findings = [openFiles()]
        let client = ControlClient(options: control)
        var hasServer = false
        do {
            findings += try await server(client)
            hasServer = true
        } catch let refusal as Refusal {
            hasServer = refusal.code != .noServer
            findings.append(
                Finding(check: "server", level: .bad, text: refusal.message, next: refusal.next))
        }
        show(findings, terminal)
        guard hasServer else { throw ExitCode(Refusal.Code.noServer.rawValue) }
        if findings.contains(where: { $0.level == .bad }) { throw ExitCode(Refusal.Code.no.rawValue) }
    }

    private func show(_ findings: [Finding], _ terminal: Terminal) {
        if terminal.isJSON {
            let values = findings.map { finding in
                JSONValue.object([
                    "check": .string(finding.check), "level": .string(finding.level.rawValue),
                    "text": .string(finding.text), "next": finding.next.map { .string($0) } ?? .null,
                ])
            }
            guard let bytes = try? WireJSON.encode(JSONValue.object(["findings": .array(values)])) else { return }
            return terminal.json(bytes)
        }
        for finding in findings {
            let (mark, style): (String, Terminal.Style) =
                switch finding.level {
                case .good: ("ok   ", .green)
                case .note: ("note ", .yellow)
                case .bad: ("wrong", .red)
                }
            terminal.line([.init(mark, style), "  \(finding.check): \(finding.text)"])
            if let next = finding.next { terminal.line("       \(next)") }
        }
    }

    private func openFiles() -> Finding {
        let connections = OpenFiles.raiseLimit()
        return connections >= 1000
            ? Finding(check: "open files", level: .good, text: "enough for \(min(connections, 65_536)) connections")
            : Finding(
                check: "open files", level: .note, text: "the limit leaves \(connections) connections",
                next: "raise it with \"ulimit -n 65536\" before \"entrupy-sim serve\"")
    }

    private func server(_ client: ControlClient) async throws -> [Finding] {
        let info = try await client.send("GET", "/_sim/info").decoded(ServerInfo.self)
        var findings = [
            Finding(check: "server", level: .good, text: "\(control.base), up for \(Int(info.uptime)) s"),
            info.version == Release.version
                ? Finding(check: "version", level: .good, text: info.version)
                : Finding(
                    check: "version", level: .bad,
                    text: "the server is \(info.version), this program \(Release.version)",
                    next: "restart the server with this program, or use the program of the server's version"),
            Finding(
                check: "data", level: info.data_dir == nil ? .note : .good,
                text: info.data_dir.map { "in \($0)" } ?? "in memory: nothing survives a stop"),
        ]
        if let directory = info.data_dir { findings += space(directory) }
        findings += hosts(info.refused)
        findings.append(clock(info.namespace))
        findings += try await webhooks(client)
        findings += try await failedDueWork(client)
        findings += try await rules(client)
        return findings
    }

    private func clock(_ namespace: NamespaceInfo) -> Finding {
        namespace.clock.mode == "frozen"
            ? Finding(
                check: "clock", level: .note, text: "\(namespace.name) is frozen at \(namespace.clock.now)",
                next: "results, retries and timeouts come only with \"entrupy-sim clock advance\"")
            : Finding(check: "clock", level: .good, text: "\(namespace.name) is running, \(namespace.clock.now)")
    }

    /// The requests that were refused for their host or origin, and the options that allow the latest of them.
    private func hosts(_ refused: RefusedSummary?) -> [Finding] {
        guard let refused else { return [] }
        guard refused.count > 0 else { return [Finding(check: "hosts", level: .good, text: "no request was refused")] }
        let latest = refused.latest.prefix(5).map {
            "\($0.header) \($0.value) (\($0.count), the last at \(Readable.time($0.last_real)))"
        }
        return [
            Finding(
                check: "hosts", level: .note,
                text:
                    "\(Readable.count(refused.count, "request")) refused, for instance \(latest.joined(separator: "; "))",
                next: "a host of yours needs --allowed-hosts, an origin of yours --cors; the others are refused rightly"
            )
        ]
    }

    /// The free disk space, if the server's directory is on this machine.
    private func space(_ directory: String) -> [Finding] {
        // The server's directory may be on another machine.
        let attributes = try? FileManager.default.attributesOfFileSystem(forPath: directory)
        guard let free = (attributes?[.systemFreeSize] as? NSNumber)?.int64Value else { return [] }
        let enough = free > 1 << 30
        return [
            Finding(
                check: "space", level: enough ? .good : .bad, text: "\(free >> 20) MiB free",
                next: enough ? nil : "free some space, or start the server with another --data-dir")
        ]
    }

    private func webhooks(_ client: ControlClient) async throws -> [Finding] {
        // Verification requests to domains are reported with their subscriptions.
        let failed = try await deliveries("failed", client).filter { $0.format != nil }
        // A delivery that a fault delays also has the status `retrying`, but no attempt yet. That is not a problem.
        let retried = try await deliveries("retrying", client).filter { $0.format != nil && !$0.attempts.isEmpty }
        var findings: [Finding] = []
        if let last = failed.first {
            findings.append(
                Finding(
                    check: "webhooks", level: .bad,
                    text: "\(Self.count(failed)) failed, the last: \(Self.reason(last))",
                    next: "send it again with \"entrupy-sim webhooks redeliver \(Shell.operand(last.id))\""))
        }
        if let last = retried.first {
            let moment = last.next_attempt_at.map { ", next at \(Readable.time($0))" } ?? ""
            findings.append(
                Finding(
                    check: "webhooks", level: .bad,
                    text: "\(Self.count(retried)) failed and will be retried\(moment), the last: \(Self.reason(last))",
                    next: "does \(last.url ?? "the receiver") answer? see the attempts with "
                        + "\"entrupy-sim webhooks list --status retrying\""))
        }
        if findings.isEmpty { findings.append(Finding(check: "webhooks", level: .good, text: "none failed")) }
        return try await findings + subscriptions(client)
    }

    /// The forms of each subscription's webhooks, and the subscriptions whose domain is not verified.
    private func subscriptions(_ client: ControlClient) async throws -> [Finding] {
        let all = try await client.send("GET", "/_sim/webhooks").decoded(SubscriptionInfoList.self).webhooks
        let active = all.filter { $0.status == "active" }
        var findings = all.filter { $0.status == "pending" }.map { pending in
            Finding(
                check: "webhooks", level: .bad,
                text:
                    "\(pending.id) to \(pending.url) is pending: its domain is not verified, so it gets no deliveries",
                next: "answer \(pending.verification ?? "its verification") as text at "
                    + "/.well-known/entrupy-domain-verification/\(pending.id), then POST /v2/webhooks/\(pending.id)/verify"
            )
        }
        let forms = Set(active.map { "format \($0.format), signature \($0.signature)" }).sorted()
        if !forms.isEmpty {
            findings.append(
                Finding(
                    check: "webhooks", level: .good,
                    text: "\(Readable.count(active.count, "subscription")): \(forms.joined(separator: "; "))"))
        }
        return findings
    }

    private func deliveries(_ status: String, _ client: ControlClient) async throws -> [WebhookDelivery] {
        try await client.send("GET", "/_sim/webhook-deliveries", query: [("status", status), ("limit", "100")])
            .decoded(WebhookDeliveryList.self).deliveries
    }

    private static func count(_ deliveries: [WebhookDelivery]) -> String {
        "\(deliveries.count)\(deliveries.count == 100 ? " or more" : "")"
    }

    /// The error or status of the last attempt.
    private static func reason(_ delivery: WebhookDelivery) -> String {
        delivery.attempts.last.flatMap { $0.error ?? $0.status.map { "status \($0)" } } ?? "no attempt"
    }

    /// Scheduled work that failed and was set aside. The whole event log is looked through, a page at a time.
    private func failedDueWork(_ client: ControlClient) async throws -> [Finding] {
        var failed: [StateChange] = []
        var cursor: String?
        repeat {
            let page = try await client.send(
                "GET", "/_sim/event-log", query: [("kind", "due_work.failed"), ("limit", "1000"), ("cursor", cursor)]
            ).decoded(EventList.self)
            failed += page.events
            cursor = page.next_cursor
        } while cursor != nil
        guard let last = failed.first else { return [] }
        let (kind, problem) = (last.data.members?["kind"]?.text ?? "", last.data.members?["problem"]?.text ?? "")
        return [
            Finding(
                check: "due work", level: .bad,
                text: "\(failed.count) failed and will not run, the last: \(kind) of \(last.subject): \(problem)",
                next: "see all with: curl \(Shell.quoted("\(control.base)/_sim/event-log?kind=due_work.failed"))")
        ]
    }

    private func rules(_ client: ControlClient) async throws -> [Finding] {
        let faults = try await client.send("GET", "/_sim/faults").decoded(FaultList.self).faults
        guard !faults.isEmpty else { return [] }
        let spent = faults.count { $0.isSpent }
        let spentText = spent > 0 ? "\(Readable.count(spent, "rule")) used up" : nil
        guard spent < faults.count else {
            return [
                Finding(check: "faults", level: .good, text: "none active, \(spentText ?? "")")
            ]
        }
        let active = [
            "\(Readable.count(faults.count - spent, "rule")) active: some requests or webhooks fail on purpose",
            spentText,
        ]
        return [
            Finding(
                check: "faults", level: .note, text: active.compactMap { $0 }.joined(separator: "; "),
                next: "see them with \"entrupy-sim fault list\", remove them with \"entrupy-sim fault clear\"")
        ]
    }
}
