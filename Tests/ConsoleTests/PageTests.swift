import Foundation
import SimulationAPI
import Testing

@testable import Console

/// Pages over a control API whose answers the test sets.
@Suite struct PageTests {
    private func page(
        _ path: [String], query: [String: String] = [:], isReadOnly: Bool = false, _ answers: [String: String]
    ) async throws -> ConsolePage {
        let console = Console(version: "1", proof: "proof-1")
        let request = ConsoleRequest(
            namespace: "a", path: path, query: query, isReadOnly: isReadOnly, url: "http://127.0.0.1:1/ns/a")
        return await console.page(request) { path in
            let plain = path.split(separator: "?")[0].dropFirst("/_sim/".count)
            guard let text = answers[String(plain)] else {
                return (
                    404,
                    Data(#"{"code":"not_found","details":[],"error":"gone","request_id":"r","sdk_error":null}"#.utf8)
                )
            }
            return (200, Data(text.utf8))
        }
    }

    private func request(_ sequence: Int, after: Int, through: Int) -> String {
        #"{"id":"req_\#(sequence)","sequence":\#(sequence),"at":5,"method":"GET","path":"/p\#(sequence)","query":null,"status":200,"duration_ms":1,"username":null,"test":null,"decided_by":{"fault":null,"limits":[],"outcome":null},"changes":{"after":\#(after),"through":\#(through)}}"#
    }

    private func event(_ sequence: Int) -> String {
        #"{"sequence":\#(sequence),"at":5,"kind":"capture.started","subject":"cap_\#(sequence)","data":{}}"#
    }

    /// All have the same time, as on a frozen clock. A request stands below the changes that it made.
    /// A rule that was triggered as often as it may be has no effect any more.
    @Test func aRuleThatIsUsedUpSaysSo() async throws {
        func fault(_ id: String, hits: Int) -> String {
            #"{"id":"\#(id)","match":{},"effect":{"status":503},"probability":null,"times":2,"after_requests":0,"seen":2,"hits":\#(hits),"notes":[],"note_details":[]}"#
        }
        let answers = [
            "faults": "{\"faults\":[\(fault("flt_a", hits: 1)),\(fault("flt_b", hits: 2))]}",
            "outcomes": "{\"outcomes\":[]}", "choices": "{\"routes\":[],\"lists\":{}}",
        ]
        let rows = try await page(["rules"], answers).html.components(separatedBy: "<tr id=\"")
        #expect(rows.first { $0.hasPrefix("flt_a") }?.contains("used up") == false)
        #expect(rows.first { $0.hasPrefix("flt_b") }?.contains("used up") == true)
    }

    @Test func requestsAndChangesAreInTheirOrder() async throws {
        let answers = [
            "requests":
                "{\"requests\":[\(request(3, after: 3, through: 3)),\(request(2, after: 1, through: 3)),\(request(1, after: 0, through: 1))],\"next_cursor\":null}",
            "event-log": "{\"events\":[\(event(4)),\(event(3)),\(event(2)),\(event(1))],\"next_cursor\":null}",
        ]
        let html = try await page([], answers).html
        let keys = html.matches(of: /<tr class="row[^>]* data-key="([re][0-9]+)/).map { String($0.1) }
        #expect(keys == ["e4", "r3", "e3", "e2", "r2", "e1", "r1"])
        #expect(html.contains("data-place=\"3.4\""))
    }

    @Test func theNextPageBeginsWithTheFirstEntriesNotShown() async throws {
        let requests = (0..<100).map { request(200 - $0, after: 500, through: 500) }.joined(separator: ",")
        let answers = [
            "requests": "{\"requests\":[\(requests)],\"next_cursor\":\"c\"}",
            "event-log": "{\"events\":[\(event(400)),\(event(399))],\"next_cursor\":null}",
        ]
        let html = try await page([], answers).html
        #expect(html.matches(of: /data-key="r[0-9]+-/).count == 100 && !html.contains("data-key=\"e400\""))
        #expect(
            html.contains("older=100.400"), "the next page begins with the request and the event that are not shown")
    }

    @Test(arguments: [
        "9223372036854775807.9223372036854775807", "1.9007199254740992", "-1.-1", "1", "a.b", "1.2.3", "",
    ])
    func anInvalidPagePositionIsIgnored(place: String) async throws {
        let answers = [
            "requests": "{\"requests\":[],\"next_cursor\":null}", "event-log": "{\"events\":[],\"next_cursor\":null}",
        ]
        let html = try await page([], query: ["older": place], answers).html
        #expect(html.contains("data-following"), "the newest entries")
    }

    @Test func aServerThatAnswersNothingGetsAPage() async throws {
        for path in [
            [], ["items"], ["items", "X"], ["requests", "r"], ["timeline"], ["users"], ["rules"], ["settings"],
            ["namespaces"],
        ] {
            let page = try await page(path, [:])
            #expect(page.status == 404 && page.html.contains("</html>"), "\(path)")
        }
        #expect(try await page(["a", "b", "c", "d"], [:]).status == 404)
    }

    @Test func theFrameContainsItsNamespaceAndProof() async throws {
        let html = try await page(["webhooks", "check"], [:]).html
        #expect(html.contains("data-base=\"/ns/a\"") && html.contains("data-proof=\"proof-1\""))
        #expect(html.contains("data-cli-end=\" --namespace a --url http://127.0.0.1:1\""))
        #expect(html.contains("data-to=\"/ns/a/_sim/webhooks/check-signature\""))
    }
}
