import Foundation
import SimulationAPI
import TestSupport
import Testing

/// URLs in answers begin with the address that was asked [D public-url]. A container cannot know the port that it is published on,
/// nor the name by which other containers reach it.
@Suite struct AskedAddressTests {
    /// The URLs of one item, as the answers to a client that asks `host` have them.
    private func urls(_ world: TestWorld, _ id: String, _ session: String, host: String?) async throws -> [String] {
        let headers = host.map { ["Host": $0] } ?? [:]
        let asked = try await world.send("GET", "/sdk/results/\(id)", token: session, headers: headers)
        let shown = try await world.send("GET", "/_sim/authentications/\(id)", headers: headers)
        let search = try await world.send("POST", "/sdk/search", token: session, headers: headers)
        #expect(search["items.0"] == asked.json && shown["sdk"] == asked.json)
        let info = try await world.send("GET", "/_sim/info", headers: headers)
        return [
            asked["images.item_photo"], asked["more_details.certificate.site"], shown["pictures.0.url"],
            info["namespace.url"],
        ].map { $0.text ?? "none" }
    }

    private static let finished = TestWorld.nike.merging(["customer_item_id": "sim-authentic-after-0s"])

    @Test func urlsBeginWithTheAddressThatWasAsked() async throws {
        let world = try await TestWorld.make()
        let session = try await world.login()
        let id = try await world.submit(session, item: Self.finished)
        // Each twice, and in turns: the second answer comes from a cache.
        for host in ["entrupy-sim:8642", "127.0.0.1:49153", "localhost", "[::1]:9000", nil, "entrupy-sim:8642", nil] {
            let base = host.map { "http://\($0)" } ?? world.root.base
            for url in try await urls(world, id, session, host: host) {
                #expect(url.hasPrefix("\(base)/ns/\(world.name)"), "asked \(host ?? "itself"): \(url)")
            }
        }
        let made = try await world.root.send(
            "POST", "/_sim/namespaces", headers: ["Host": "entrupy-sim:8642"])
        #expect(made["url"].text == "http://entrupy-sim:8642/ns/\(made["name"].text ?? "none")")
        let list = try await world.root.send(
            "GET", "/_sim/namespaces", headers: ["Host": "entrupy-sim:8642"])
        #expect(list["namespaces"].items.someAndAll { $0["url"].text?.hasPrefix("http://entrupy-sim:8642") == true })
    }

    /// Without its path, the URL would lead to the namespace of the host.
    @Test func theDefaultNamespaceHasAPathUnderAHostThatNamesAnother() async throws {
        let root = try await TestWorld.server
        let shown = try await root.send(
            "GET", "/ns/default/_sim/info", headers: ["Host": "shop.localhost:9000"])
        #expect(shown["namespace.url"].text == "http://shop.localhost:9000/ns/default")
        let plain = try await root.send("GET", "/_sim/info", headers: ["Host": "sim:9000"])
        #expect(plain["namespace.url"].text == "http://sim:9000")
    }

    /// A zone means something to its client alone.
    @Test func aZoneIsLeftOut() async throws {
        let answer = try await TestWorld.server.send(
            "GET", "/_sim/info", headers: ["Host": "[fe80::1%eth0]:8642"])
        #expect(answer["url"].text == "http://[fe80::1]:8642")
    }

    @Test func aPublicURLGoesBeforeTheAddress() async throws {
        let world = try await TestWorld.opened { $0.publicURL = "https://sim.example.com/x" }.made()
        let session = try await world.login()
        let id = try await world.submit(session, item: Self.finished)
        for url in try await urls(world, id, session, host: "entrupy-sim:8642") {
            #expect(url.hasPrefix("https://sim.example.com/x/ns/"), "\(url)")
        }
    }

    /// Equal runs must send equal bytes, whoever caused them.
    @Test func aWebhookDoesNotFollowARequest() async throws {
        var world = try await TestWorld.make()
        let session = try await world.login()
        world.headers = ["Host": "entrupy-sim:8642"]
        try await world.subscribe(url: "http://127.0.0.1:9/")
        let id = try await world.submit(session, item: Self.finished)
        let triggered = try await world.send(
            "POST", "/_sim/webhooks/trigger", ["event": "session.completed", "entrupy_id": .string(id)])
        try #require(triggered.status == 202, "\(triggered.json)")
        for delivery in try await world.webhookDeliveries() {
            let shown = try await world.send("GET", "/_sim/webhook-deliveries/\(delivery["id"].text ?? "")")
            #expect(shown["body"] != .null && !shown.text.contains("//entrupy-sim:8642"))
        }
    }
}
