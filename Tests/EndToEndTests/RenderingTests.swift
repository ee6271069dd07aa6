import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Results are cached. Answers from the cache must equal fresh ones.
@Suite struct RenderingTests {
    /// Reads a result three ways, of which the later ones come from the cache. Each must equal the control API's fresh rendering.
    private func check(_ world: TestWorld, _ id: String, _ token: String) async throws -> JSONValue {
        let fresh = try await world.send("GET", "/_sim/authentications/\(id)")["sdk"]
        let first = try await world.result(id, token)
        let second = try await world.result(id, token)
        let found = try await world.send("POST", "/sdk/search", token: token)["items"].items
        #expect(first.json == fresh)
        #expect(second.body == first.body)
        #expect(found.first { $0["entrupy_id"] == .string(id) } == fresh)
        let japanese = try await world.send(
            "GET", "/sdk/results/\(id)", token: token, headers: ["Accept-Language": "ja"])
        let again = try await world.send(
            "GET", "/sdk/results/\(id)", token: token, headers: ["Accept-Language": "ja"])
        let renderedInJapanese = try await world.send(
            "GET", "/_sim/authentications/\(id)", headers: ["Accept-Language": "ja"])["sdk"]
        #expect(japanese.json == renderedInJapanese)
        #expect(again.body == japanese.body && japanese.body != first.body)
        return fresh
    }

    @Test func aCachedResultReflectsEveryChange() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        let id = try await world.submit(token)
        #expect(try await check(world, id, token)["status.result.id"] == "needs_review")
        try await world.advance("5s")
        #expect(try await check(world, id, token)["status.result.id"] == "authentic")
        _ = try await world.send("PUT", "/sdk/results/\(id)/flag", ["flag": true, "message": "hm"], token: token)
        #expect(try await check(world, id, token)["status.flag.id"] == "flagged")
        _ = try await world.send(
            "POST", "/_sim/authentications/\(id)/flag/resolve", ["note": "n", "result": "unknown"])
        #expect(try await check(world, id, token)["status.flag"] == ["id": "resolved", "is_flaggable": true])
        for (settings, isFlaggable) in [
            (["flagging": ["sdk": false]], false), (["flagging": ["sdk": true]], true),
            (["flagging": ["eligible": ["authentic"]]], false), (["flagging": nil], true),
        ] as [(JSONValue, Bool)] {
            _ = try await world.send("PATCH", "/_sim/settings", settings)
            #expect(try await check(world, id, token)["status.flag.is_flaggable"] == .bool(isFlaggable))
        }
        _ = try await world.send("PATCH", "/_sim/authentications/\(id)", ["result": "invalid"])
        #expect(try await check(world, id, token)["status.result.display.reasons.0.text"] != .null)
    }

    @Test func aCachedResultReflectsLoadedTexts() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        let id = try await world.submit(
            token, item: ["brand": "Nike", "style_name": "x", "customer_item_id": "sim-authentic-after-0s"])
        let header = "status.result.display.header"
        #expect(try await check(world, id, token)[header] == "Authentic")
        let texts = try await world.send("GET", "/_sim/export?format=json")["texts"]
            .merging(["results": ["authentic": ["header": ["en": "Genuine"]]]])
        try #require(try await world.send("POST", "/_sim/seed", ["texts": texts]).status == 200)
        #expect(try await check(world, id, token)[header] == "Genuine")
    }

    @Test func aCachedResultHasTheAddressOfTheAnsweringServer() async throws {
        try await Process.withDirectory { directory in
            var server = try await SimProcess(["--data-dir", directory])
            var world = try await TestWorld.make(in: server)
            let token = try await world.login()
            let id = try await world.submit(
                token, item: ["brand": "Nike", "style_name": "x", "customer_item_id": "sim-authentic-after-0s"])
            for _ in 0..<2 { _ = try await world.result(id, token) }
            let name = try #require(world.base.split(separator: "/").last)
            server.stop()
            server = try await SimProcess(["--data-dir", directory, "--public-url", "https://sim.example.com/x"])
            defer { server.stop() }
            world = TestWorld(base: "\(server.baseURL)/ns/\(name)")
            let result = try await world.result(id, token)
            #expect(
                result["more_details.certificate.site"].text?.hasPrefix("https://sim.example.com/x/ns/\(name)/") == true
            )
            #expect(result["images.item_photo"].text?.hasPrefix("https://sim.example.com/x/ns/\(name)/") == true)
        }
    }
}
