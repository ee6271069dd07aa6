import Foundation
import FoundationXML
import SimulationAPI
import TestSupport
import Testing

@Suite struct CertificateTests {
    /// A namespace with one authentic item whose user has names, the item's id, and the path of its certificate.
    private func world(_ item: JSONObject = [:]) async throws -> (TestWorld, id: String, path: String) {
        let world = try await TestWorld.make(settings: ["rate_limits": "off"])
        _ = try await world.authorize("example-user-id", ["first_name": "Ada", "last_name": "Lovelace"])
        let token = try await world.login()
        let nike = TestWorld.nike.merging(.object(item))
        let id = try await world.submit(token, item: nike)
        try await world.advance("5s")
        let site = try #require(try await world.result(id, token)["more_details.certificate.site"].text)
        try #require(site.hasPrefix(world.base))
        return (world, id, String(site.dropFirst(world.base.count)))
    }

    private func text(_ answer: TestWorld.Answer) -> String {
        String(decoding: answer.body, as: UTF8.self)
    }

    /// Whether a picture is well-formed XML.
    private func isWellFormed(_ answer: TestWorld.Answer) -> Bool {
        XMLParser(data: answer.body).parse()
    }

    @Test func aCertificateShowsTheItemAndTheNamesFirstSet() async throws {
        let (world, id, path) = try await world()
        let conflicting = try await world.authorize("example-user-id", ["first_name": "Eve"])
        #expect(conflicting.status == 409)
        let page = try await world.send("GET", path)
        #expect(page.headers["Content-Type"] == ["text/html; charset=utf-8"])
        for fact in ["Nike", "Air Jordan 1 Retro High OG SP", "Ada Lovelace", id, "2026-01-05", "Authentic"] {
            #expect(text(page).contains(fact), "\(fact)")
        }
        #expect(text(page).contains("/original\""), "the item's photo")
        #expect(!text(page).contains("sku-xyz"), "the customer's own id is hidden")
        #expect(text(page).contains("<body>\n<p class=\"simulated\">Made by a simulator"))
        _ = try await world.send("PATCH", "/_sim/settings", ["certificates": ["show_customer_item_id": true]])
        #expect(text(try await world.send("GET", path)).contains("sku-xyz"))
        let picture = try await world.send("GET", path + "?format=sharable")
        #expect(picture.headers["Content-Type"] == ["image/svg+xml"])
        #expect(text(picture).contains("Ada Lovelace") && isWellFormed(picture))
        #expect(text(picture).contains(">Made by a simulator"), "the picture says so too")
        let japanese = try await world.send("GET", path, headers: ["Accept-Language": "ja"])
        #expect(text(japanese).contains("鑑定書") && text(japanese).contains("lang=\"ja\""))
    }

    @Test func aCertificateHasItsResultsDayAndWithoutAStyleTheItemType() async throws {
        let (world, id, path) = try await world(["style_name": nil, "item_type": "t_shirt"])
        try await world.advance("1d")
        for result in ["unknown", "authentic"] {
            _ = try await world.send("PATCH", "/_sim/authentications/\(id)", ["result": .string(result)])
        }
        let page = text(try await world.send("GET", path))
        #expect(page.contains("2026-01-06") && !page.contains("2026-01-05"), "not the day of the submission")
        #expect(page.contains("T Shirt"))
    }

    @Test func anItemsNameIsEscapedInItsCertificate() async throws {
        let name = "<script>alert(1)</script> & \"quoted\" \u{1} 👟"
        let (world, _, path) = try await world(["style_name": .string(name)])
        let page = try await world.send("GET", path)
        #expect(!text(page).contains("<script") && text(page).contains("&lt;script&gt;"))
        #expect(page.headers["Content-Security-Policy"].first?.hasPrefix("default-src 'none'") == true)
        #expect(isWellFormed(try await world.send("GET", path + "?format=sharable")))
    }

    @Test func aCertificateExistsOnlyWhileTheResultIsAuthentic() async throws {
        let (world, id, path) = try await world()
        for (result, status) in [("unknown", 404), ("authentic", 200), ("needs_review", 404)] {
            _ = try await world.send("PATCH", "/_sim/authentications/\(id)", ["result": .string(result)])
            #expect(try await world.send("GET", path).status == status)
        }
        #expect(try await world.send("GET", "/certificates/nope").status == 404)
        #expect(try await world.send("GET", path + "?format=pdf").status == 400)
    }

    @Test func aTransferChangesTheHolderAndSendsAWebhook() async throws {
        let (world, id, path) = try await world()
        let receiver = try await WebhookReceiver.open()
        _ = try await world.send(
            "POST", "/v2/webhooks", ["url": .string(receiver.url), "secret_key": "s", "format": "event"],
            token: TestWorld.apiToken)
        let transfer = "/_sim/authentications/\(id)/certificate/transfer"
        for wrong: JSONValue in [[:], ["to": "buyer"], ["to": 1], ["to": "a@b", "from": "c@d"]] {
            #expect(try await world.send("POST", transfer, wrong).status == 400)
        }
        let answer = try await world.send("POST", transfer, ["to": "buyer@example.com"])
        #expect(answer.status == 200)
        let event = answer["timeline"].items.last
        #expect(event?["event"] == "certificate.transferred" && event?["data.to"] == "buyer@example.com")
        let page = text(try await world.send("GET", path))
        #expect(page.contains("buyer@example.com") && page.contains("Ada Lovelace"))
        try await world.advance("0s")
        let told = receiver.deliveries.map(\.json)
        try #require(told.map { $0["event"] } == ["certificate.transfer"])
        #expect(told[0]["data.certificate_holder"] == "buyer@example.com")
        _ = try await world.send("PATCH", "/_sim/authentications/\(id)", ["result": "unknown"])
        #expect(try await world.send("POST", transfer, ["to": "a@b"]).status == 409)
    }
}
