import Foundation
import SimulationAPI
import TestSupport
import Testing

@Suite struct WebhookTests {
    @Test(arguments: ["v1", "v2"], ["items", "event"])
    func webhooksReportAnItemFromSubmissionToFlagResolution(version: String, format: String) async throws {
        let world = try await TestWorld.withoutLimits()
        let receiver = try await WebhookReceiver.open()
        let token = try await world.login()
        try await world.subscribe(receiver, version: version, ["format": .string(format)])
        let id = try await world.submit(token)
        try await world.advance("5s")
        let flag = "/sdk/results/\(id)/flag"
        for isSet in [true, false, true] {
            _ = try await world.send("PUT", flag, ["flag": .bool(isSet)], token: token)
        }
        let resolve = "/_sim/authentications/\(id)/flag/resolve"
        _ = try await world.send("POST", resolve, ["note": "Seen again", "result": "unknown"])
        _ = try await world.send("PATCH", "/_sim/authentications/\(id)", ["result": "authentic"])
        try await world.settleWebhooks()
        let told = receiver.deliveries
        let items = told.map { format == "items" ? $0.item : $0.json["data"] }
        try #require(
            zip(told, items).map { [.string($0.event ?? ""), $1["status.result.id"], $1["status.flag"]] } == [
                ["session.updated", "needs_review", nil], ["session.completed", "authentic", nil],
                ["session.updated", "authentic", "flagged"], ["session.updated", "authentic", nil],
                ["session.updated", "authentic", "flagged"], ["session.updated", "unknown", "resolved"],
                ["session.updated", "authentic", "resolved"],
            ])
        #expect(Set(told.map { $0.headers["X-Sim-Event-Id"] }).count == told.count)
        #expect(items[1]["entrupy_id"].text == id)
        // The items of a v2 subscription are v1.4 items.
        if format == "items" {
            let minor = version == "v1" ? "1.3" : "1.4"
            let item = try await world.send(
                "GET", "/v1/authentications/\(id)", token: TestWorld.apiToken, headers: ["Api-Version": minor])
            #expect(told.last?.json == ["items": [item["item"]]])
            return
        }
        #expect(told.someAndAll { $0.json["event"].text == $0.event })
        #expect(told.someAndAll { $0.headers["X-Sim-Event-Id"] == [$0.json["event_id"].text ?? "-"] })
        let completed = told[1].json
        // Times of v2 are whole seconds.
        #expect(
            completed["created_at"].text == (version == "v1" ? "2026-01-05T09:00:05.000000Z" : "2026-01-05T09:00:05Z"))
        #expect(completed["data.entrupy_id"].text == id && completed["data.customer_item_id"] == "sku-xyz")
        let item = try await world.send(
            "GET", "/\(version)/authentications/\(id)", token: TestWorld.apiToken, headers: ["Api-Version": "1.3"])
        let site = item[version == "v1" ? "item.certificate.site" : "item.certificate.url"]
        #expect(completed["data.certificate_url"] == site && site != .null)
        #expect(items[0]["certificate_url"] == .null && items[0].members?["certificate_url"] != nil)
        // Except for the flat members, the last body equals the item.
        let flat: JSONValue = ["certificate_url": nil, "customer_item_id": nil]
        #expect(items.last?.merging(flat) == item["item"])
    }
}
