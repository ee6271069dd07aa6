import Foundation
import SimulationAPI
import Testing

@testable import Console

/// The page of a sweep. The client that was swept controls most of its texts.
@Suite struct SweepPageTests {
    private func run(_ call: String, _ fault: String, _ style: SweepPage.Run.Style) -> SweepPage.Run {
        let mark = [.good: ".", .warn: "?", .bad: "D"][style] ?? ""
        return SweepPage.Run(call: call, fault: fault, mark: mark, verdict: "v-\(style)", style: style, seconds: 0.25)
    }

    private func page(_ runs: [SweepPage.Run], command: String = "npm test", leftOut: [String] = []) throws -> String {
        try SweepPage.file(
            command: command, legend: [("D", "doubled")], counts: "2 cells", runs, leftOut: leftOut, version: "1")
    }

    @Test func eachCellOpensItsRun() throws {
        var bug = run("POST /a #1", "503", .bad)
        (bug.sentence, bug.seen, bug.scenario, bug.exit) = ("two items", "3 of 3", "kept/a.yaml", 0)
        bug.requests = [">  +0.01 s  POST /a  503", "   +0.05 s  POST /a  200"]
        bug.difference = [
            ObjectDifference(
                kind: "item", key: ["customer_item_id": "sku-1"], change: .changed,
                members: [.init(name: "result", from: "x-before", to: "x-after")])
        ]
        let html = try page([run("GET /b #1", "503", .good), bug, run("POST /a #1", "slow", .warn)])
        #expect(html.contains(##"<a class="pill bad" href="#run-2" title="v-bad, 0.25 s">D"##), "\(html)")
        #expect(html.contains(##"<a class="pill good" href="#run-1" title="v-good, 0.25 s">."##))
        #expect(html.contains(#"<details class="box" id="run-2" open>"#), "a bug is open")
        #expect(html.contains(#"<details class="box" id="run-3"><summary>"#))
        #expect(html.contains(#"<details class="box" id="run-1"><summary>"#))
        for text in [
            "two items", "3 of 3", "kept/a.yaml", "exit code 0, after 0.25 s", "sku-1", "x-before", "x-after",
            "&gt;  +0.01 s  POST /a  503\n   +0.05 s  POST /a  200",
        ] { #expect(html.contains(text), "\(text)") }
        // The second call has no run with the fault slow.
        #expect(html.components(separatedBy: "<td></td>").count == 2)
    }

    @Test func textsOfTheClientAreTextsAndBounded() throws {
        let evil = #"<script>alert(1)</script>"'&"#
        var bug = run(evil, evil, .bad)
        (bug.sentence, bug.scenario, bug.requests) = (evil + "\u{202e}", evil, [evil])
        bug.difference = (0..<60).map {
            ObjectDifference(
                kind: evil, key: ["a": .string("\($0)-of-sixty" + evil)], change: .added,
                members: [.init(name: evil, from: nil, to: .string(evil + String(repeating: "x", count: 5000)))])
        }
        let html = try page([bug], command: evil, leftOut: [evil + String(repeating: "y", count: 5000)])
        #expect(!html.contains("<script") && !html.contains("alert(1)</script>") && !html.contains(#"""'&"#))
        #expect(html.components(separatedBy: "&lt;script&gt;").count > 60)
        #expect(html.contains(#"\u{202e}"#) && !html.contains("\u{202e}"))
        #expect(html.contains("49-of-sixty") && !html.contains("50-of-sixty") && html.contains("--json lists all"))
        #expect(
            !html.contains(String(repeating: "x", count: 301)) && !html.contains(String(repeating: "y", count: 2001)))
        // No script, no picture and no other file: the style is in the page.
        #expect(html.contains("default-src &#39;none&#39;; style-src &#39;sha256-"))
        #expect(!html.contains("<link") && !html.contains("src=\"") && !html.contains("url("))
    }

    @Test func aLargeSweepHasDetailsForTheFirstOfItsBugs() throws {
        let runs = (1...500).flatMap { [run("GET /\($0) #1", "503", .good), run("GET /\($0) #1", "slow", .bad)] }
        let html = try page(runs)
        #expect(html.components(separatedBy: "<details class=\"box\"").count == SweepPage.maxRuns + 1)
        #expect(html.components(separatedBy: " open><summary>").count == SweepPage.maxRuns + 1, "bugs come first")
        #expect(html.contains("and 700 more, which --json lists") && html.contains("GET /500 #1"))
        #expect(html.utf8.count < 1_000_000)
        let same = try page([run("a", "kept", .good), run("a", "kept", .bad), run("a", "kept", .good)])
        #expect(
            same.contains(##"<a class="pill bad" href="#run-2""##), "a bug is not hidden by another run of its name")
    }
}
