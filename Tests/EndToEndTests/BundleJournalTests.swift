import Foundation
import SimulationAPI
import TestSupport
import Testing

/// The facts about refusals in a bundle's journal, also where a file from outside has other ones.
@Suite struct BundleJournalTests {
    @Test func aBundleKeepsTheFactAndOneWithoutItOpens() async throws {
        let world = try await TestWorld.withoutLimits()
        let a = try await world.login("user-of-a")
        _ = try await world.send("GET", "/sdk/results/NONE", token: a)
        let archive = try TarFile(try await world.send("GET", "/_sim/bundle").body)
        let text = try archive.text(of: "journal.json")
        let fact = "the namespace has no item with this id"
        try #require(text.contains(#""because":"\#(fact)""#))
        let older = text.replacing(/"because":("[^"]*"|null),/, with: "")
        try #require(!older.contains("because"))
        for (journal, because) in [(text, .string(fact)), (older, .null)] as [(String, JSONValue)] {
            try await archive.opened(withJournal: journal) { opened in
                let entry = try await opened.send("GET", "/_sim/requests?status=404")["requests.0"]
                #expect(entry["because"] == because, "\(entry)")
            }
        }
    }

    /// A file from outside may have any numbers, and causes that lead in a circle.
    @Test(arguments: [(Int64.min, Int64.max), (.max, .min), (-5, -1), (0, .max)])
    func aDamagedBundleIsExplainedAsFarAsItGoes(after: Int64, through: Int64) async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login("user-of-a")
        _ = try await world.send("GET", "/sdk/results/NONE", token: session)
        let archive = try TarFile(try await world.send("GET", "/_sim/bundle").body)
        let text = try archive.text(of: "journal.json")
        let state = #""state":{"about":"DemoOrg-user-of-a","kinds":["session.started"]}"#
        let changed =
            text
            .replacing(/"changes":{[^}]*}/, with: #""changes":{"after":\#(after),"through":\#(through)}"#)
            .replacing(/,"state":{[^}]*}/, with: "")
            .replacing(/"outcome":null/, with: #""outcome":null,\#(state)"#)
        try #require(changed.contains(state) && changed.contains("\(through)"))
        try await archive.opened(withJournal: changed) { opened in
            let last = try await opened.send("GET", "/_sim/requests?limit=1")["requests.0.sequence"].integer ?? 0
            let steps = try await opened.explain("sequence:\(last)").steps.map(\.text)
            #expect(steps.contains { $0.hasPrefix("session.started") })
            #expect(steps.last?.hasPrefix("GET /sdk/results/NONE -> 404") == true, "\(steps)")
            for entry in try await opened.send("GET", "/_sim/requests")["requests"].items {
                let sequence = entry["sequence"].integer ?? 0
                #expect(try await opened.send("GET", "/_sim/explain/sequence:\(sequence)").status == 200)
                #expect(try await opened.send("GET", "/_sim/console/requests/sequence:\(sequence)").status == 200)
            }
        }
    }
}
