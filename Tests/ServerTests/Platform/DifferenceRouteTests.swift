import Foundation
import SimulationAPI
import TestSupport
import Testing

/// `GET /_sim/diff`.
@Suite struct DifferenceRouteTests {
    @Test func aStateThatDoesNotExistOrIsNotNamedIsRefused() async throws {
        let (world, other) = (try await TestWorld.make(), try await TestWorld.make())
        // A snapshot belongs to its namespace.
        try #require(try await other.send("PUT", "/_sim/snapshots/theirs").status == 201)
        for (query, status) in [
            ("", 400), ("from=now", 400), ("from=now&to=now&x=1", 400), ("from=now&to=snapshot:..", 400),
            ("from=now&to=snapshot:none", 404), ("from=now&to=namespace:none", 404),
            ("from=now&to=snapshot:theirs", 404),
        ] {
            #expect(try await world.send("GET", "/_sim/diff?\(query)").status == status, "\(query)")
        }
        #expect(try await world.root.send("GET", "/ns/none/_sim/info").status == 404, "a comparison makes none")
    }

    /// Names are values, whatever a terminal would do with them.
    @Test func textsOfClientsAreKeysAsTheyAre() async throws {
        let (world, other) = (try await TestWorld.make(), try await TestWorld.make())
        let text = JSONValue.string("\u{1b}[31m\u{202e}'\"x")
        _ = try await other.send("POST", "/_sim/authentications", ["customer_item_id": text, "brand": "Nike"])
        let answer = try await world.send("GET", "/_sim/diff?from=now&to=namespace:\(other.name)")
        #expect(answer.status == 200 && answer["equal"] == false)
        #expect(answer["objects"].items.first { $0["kind"] == "item" }?["key.customer_item_id"] == text)
    }
}
