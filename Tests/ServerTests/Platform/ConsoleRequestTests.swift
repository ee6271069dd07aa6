import Foundation
import Hashes
import SimulationAPI
import TestSupport
import Testing

/// The console's pages [D console]. `make test-console` drives them in a browser.
@Suite struct ConsoleRequestTests {
    private static let html = ["Accept": "text/html"]

    private func page(_ world: TestWorld, _ path: String) async throws -> TestWorld.Answer {
        try await world.send("GET", "/_sim/console\(path)", headers: Self.html)
    }

    @Test(arguments: [
        "", "/items", "/timeline", "/timeline?span=1h", "/captures", "/captures?status=all", "/users", "/components",
        "/rules",
        "/scenarios", "/scenarios/late-result-then-disputed", "/webhooks", "/webhooks/check", "/namespaces",
        "/settings",
    ])
    func everyPageIsServedUnderAStrictPolicy(path: String) async throws {
        for world in [try await TestWorld.make(), try await filled()] {
            let answer = try await page(world, path)
            #expect(answer.status == 200 && answer.headers.first(name: "Content-Type") == "text/html; charset=utf-8")
            let policy = answer.headers.first(name: "Content-Security-Policy") ?? ""
            #expect(policy.contains("default-src 'none'") && policy.contains("script-src 'self';"))
            #expect(!policy.contains("unsafe"))
            #expect(
                !answer.text.contains("<script>") && !answer.text.contains(" style=")
                    && !answer.text.contains("onclick"))
            #expect(!answer.text.contains("{{") && answer.text.hasSuffix("</html>\n"))
        }
    }

    /// The page of the routes stands beside the console, and needs the same headers: both are of the server's own origin.
    @Test func thePageOfTheRoutesHasTheConsolesHeaders() async throws {
        let world = try await TestWorld.server
        let docs = try await world.send("GET", "/_sim/docs", headers: Self.html)
        let console = try await world.send("GET", "/_sim/console", headers: Self.html)
        for name in ["Content-Type", "Cache-Control", "X-Content-Type-Options", "Referrer-Policy"] {
            let value = docs.headers.first(name: name)
            #expect(value != nil && value == console.headers.first(name: name), "\(name)")
        }
        let policy = try #require(docs.headers.first(name: "Content-Security-Policy"))
        for part in ["default-src 'none'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"] {
            #expect(
                policy.contains(part) && console.headers.first(name: "Content-Security-Policy")?.contains(part) == true)
        }
        #expect(!policy.contains("unsafe"))
        // A browser runs the script and takes the style, since the policy has their hashes, and no other.
        for name in ["script", "style"] {
            let parts = docs.text.components(separatedBy: "<\(name)>")
            try #require(parts.count == 2 && !docs.text.contains("<\(name) "))
            let content = try #require(parts[1].components(separatedBy: "</\(name)>").first)
            let hash = Data(SHA256.hash(data: Data(content.utf8))).base64EncodedString()
            #expect(policy.contains("\(name)-src 'sha256-\(hash)';"), "\(policy)")
        }
        #expect(!docs.text.contains(" style=") && !docs.text.contains(" onclick="))
        let depths = Set(docs.text.matches(of: /class="deep([0-9]+)"/).map { String($0.1) }).subtracting(["0"])
        #expect(depths.count > 1 && depths.someAndAll { docs.text.contains(".deep\($0) {") }, "\(depths)")
        let description = try await world.send("GET", "/openapi.yaml")
        #expect(description.headers.first(name: "X-Content-Type-Options") == "nosniff")
    }

    /// A namespace with something of everything.
    private func filled() async throws -> TestWorld {
        let world = try await TestWorld.make()
        let session = try await world.login()
        _ = try await world.send("POST", "/_sim/outcomes", ["match": ["brand": "Nike"], "result": "unknown"])
        _ = try await world.send(
            "POST", "/_sim/faults", ["match": ["route": "/sdk/search"], "effect": ["status": 503]])
        _ = try await world.submit(session)
        _ = try await world.startCapture(session)
        _ = try await world.send("POST", "/sdk/search", [:], token: session)
        _ = try await world.send("PUT", "/_sim/snapshots/one")
        return world
    }

    private static let hostile = #"<script>alert(1)</script>"'&{{x}}"#

    @Test func hostileTextIsEscapedOnEveryPage() async throws {
        let world = try await TestWorld.make()
        let session = try await world.login()
        let item = try await world.submit(
            session,
            item: ["brand": "Nike", "style_name": .string(Self.hostile), "customer_item_id": .string(Self.hostile)])
        _ = try await world.send(
            "GET", "/sdk/results/x?\(Self.hostile.addingPercentEncoding(withAllowedCharacters: .alphanumerics)!)",
            token: session, headers: ["X-Sim-Test": Self.hostile, "User-Agent": Self.hostile])
        _ = try await world.send(
            "POST", "/_sim/outcomes", ["match": ["brand": .string(Self.hostile)], "result": "unknown"])
        let last = try #require(try await world.send("GET", "/_sim/requests?limit=1")["requests.0.id"].text)
        let query = Self.hostile.addingPercentEncoding(withAllowedCharacters: .alphanumerics)!
        for path in [
            "", "?q=\(query)", "/items", "/items/\(item)", "/requests/\(last)", "/rules", "/rules?route=\(query)",
            "/timeline",
            "/coverage", "/items?text=\(query)", "/users/\(query)", "/audit", "/explain/\(last)", "/explain/\(item)",
            "/explain/\(query)",
            "/\(query)", "?selected=\(query)",
        ] {
            let answer = try await page(world, path)
            #expect(!answer.text.contains("<script>alert"), "\(path)")
            #expect(!answer.text.contains(#"&{{x}}"#), "\(path)")
        }
        #expect(try await page(world, "/items/\(item)").text.contains("&lt;script&gt;alert(1)&lt;/script&gt;"))
    }

    @Test func aRequestPageShowsItsChangesAndLaterEvents() async throws {
        let world = try await TestWorld.make()
        let session = try await world.login()
        let item = try await world.submit(session)
        try await world.advance("5s")
        let id = try #require(
            try await world.send("GET", "/_sim/requests?route=/sdk/captures/*/submit")["requests.0.id"].text)
        let text = try await page(world, "/requests/\(id)").text
        #expect(text.contains("Capture submitted") && text.contains("Item submitted") && text.contains("Result set"))
        #expect(text.contains("/items/\(item)") && text.contains("curl -X POST"))
        #expect(!text.contains(session))
        let beside = try await page(world, "?selected=\(id)")
        #expect(beside.status == 200 && beside.text.contains("data-exchange"))
    }

    @Test func theMapOfCoverageShowsWhatIsMetAndWhatMeetsTheRest() async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login()
        _ = try await world.send("GET", "/sdk/session", token: session, headers: ["X-Sim-Test": "aTest"])
        let text = try await page(world, "/coverage").text
        #expect(text.contains("GET /sdk/session 200: met\""))
        #expect(text.contains("GET /sdk/session 429: not met\""))
        #expect(text.contains("<li>aTest</li>"))
        #expect(text.contains("entrupy-sim settings set rate_limits.sdk_per_second 1"))
        #expect(text.contains("The whole server</a>"))
        let server = try await page(TestWorld.server, "/coverage").text
        #expect(server.contains("the requests of all namespaces"))
    }

    /// Every step of an item's chain leads to a page that is there.
    @Test func anExplanationIsDrawnAndItsStepsLeadSomewhere() async throws {
        let world = try await TestWorld.withoutLimits()
        try await world.subscribe(url: "http://127.0.0.1:9/")
        let item = try await world.submit(try await world.login())
        try await world.advance("5s")
        let own = try await page(world, "/items/\(item)")
        #expect(own.text.contains("/_sim/console/explain/\(item)\""))
        let answer = try await page(world, "/explain/\(item)")
        let text = answer.text
        #expect(answer.status == 200 && text.contains("class=\"chain\"") && text.contains("result of \(item) fell due"))
        #expect(text.contains("What would have changed it"))
        let prefix = "/ns/\(world.name)"
        let links = Set(
            text.matches(of: /<a href="([^"]+)" aria-label/).map { String($0.1).replacing("&amp;", with: "&") })
        #expect(links.count > 5)
        for link in links {
            try #require(link.hasPrefix(prefix), "\(link)")
            let found = try await world.send("GET", String(link.dropFirst(prefix.count)), headers: Self.html)
            #expect(found.status == 200, "\(link)")
        }
    }

    @Test func missingPagesAre404() async throws {
        let world = try await TestWorld.make()
        let gone = try await page(world, "/requests/req_gone")
        #expect(gone.status == 404 && gone.text.contains("The journal has no such request"))
        #expect(try await page(world, "/items/NOPE2345").status == 404)
        #expect(try await page(world, "/nothing").text.contains("There is no such page"))
        let server = try await TestWorld.server
        let missing = try await server.send("GET", "/ns/gone/_sim/console", headers: Self.html)
        #expect(missing.status == 404)
        #expect(missing.text.contains("entrupy-sim namespace make --url \(server.base) gone"), "\(missing.text)")
        let program = try await server.send("GET", "/ns/gone/_sim/console")
        #expect(program.status == 404 && program["code"] == "unknown_namespace", "programs get the envelope")
    }

    @Test func aSearchThatIsWrongIsExplained() async throws {
        let world = try await TestWorld.make()
        #expect(try await page(world, "?q=status:abc").text.contains("status must be a status such as 404"))
        #expect(try await page(world, "?q=colour:red").text.contains("colour: is not a search key"))
        #expect(try await page(world, "?q=status:4xx").text.contains("Nothing that is kept fits this search"))
    }

    @Test func newEntriesAreCounted() async throws {
        let world = try await TestWorld.make()
        let text = try await page(world, "").text
        let place = try #require(text.firstMatch(of: /data-place="([0-9.]+)"/)?.1)
        _ = try await world.authorize()
        let news = try await world.send("GET", "/_sim/console/news?since=\(place)")
        #expect(news["count"] == 2 && news["more"] == false, "a request, and the user that it created")
        #expect(try await world.send("GET", "/_sim/console/news?since=\(place)&q=status:4xx")["count"] == 0)
    }

    @Test func theTokenIsAskedForOnce() async throws {
        let world = try await TestWorld.opened { $0.controlToken = "open+sesame&1" }
        let asked = try await world.send("GET", "/_sim/console/items", headers: Self.html)
        #expect(asked.status == 401 && asked.text.contains("action=\"/_sim/console/token\""))
        let form = ["Content-Type": "application/x-www-form-urlencoded"]
        let wrong = try await world.send("POST", "/_sim/console/token", bytes: Data("token=no".utf8), headers: form)
        #expect(wrong.status == 401 && wrong.text.contains("That was not"))
        let large = Data(("token=" + String(repeating: "x", count: 10_001)).utf8)
        let tooLarge = try await world.send("POST", "/_sim/console/token", bytes: large, headers: form)
        #expect(tooLarge.status == 413)
        let right = try await world.send(
            "POST", "/_sim/console/token", bytes: Data("token=open%2Bsesame%261".utf8), headers: form)
        #expect(right.status == 303 && right.headers.first(name: "Location") == "/_sim/console")
        let cookie = try #require(right.headers.first(name: "Set-Cookie")?.split(separator: ";").first.map(String.init))
        #expect(right.headers.first(name: "Set-Cookie")?.contains("HttpOnly; SameSite=Strict") == true)
        let page = try await world.send(
            "GET", "/_sim/console/items", headers: Self.html.merging(["Cookie": cookie]) { $1 })
        #expect(page.status == 200 && !page.text.contains("open+sesame&1"))
        let linked = try await world.send("GET", "/_sim/console/items?token=open%2Bsesame%261", headers: Self.html)
        #expect(linked.status == 303 && linked.headers.first(name: "Location") == "/_sim/console/items")
    }

    @Test func aPageOfAnotherRunChangesNothing() async throws {
        let world = try await TestWorld.make()
        let text = try await page(world, "").text
        let proof = try #require(text.firstMatch(of: /data-proof="([^"]+)"/)?.1)
        let old = try await world.send("POST", "/_sim/clock/freeze", headers: ["X-Sim-Console": "old"])
        #expect(old.status == 403 && old["error"].text?.contains("reload it") == true)
        let right = try await world.send("POST", "/_sim/clock/freeze", headers: ["X-Sim-Console": String(proof)])
        #expect(right.status == 200)
    }

    /// The page is made from the API's description, so that no setting is forgotten.
    @Test func everySettingHasAField() async throws {
        let world = try await TestWorld.make()
        let settings = try await world.send("GET", "/_sim/settings").json
        let html = try await page(world, "/settings").text
        for (name, value) in settings.members?.sorted ?? [] where name != "rate_limits" {
            for path in value.members?.keys.sorted().map({ "\(name).\($0)" }) ?? [name] {
                #expect(html.contains("name=\"\(path)\""), "\(path)")
            }
        }
        #expect(html.contains("name=\"rate_limits.api_per_second\""))
        let journal = try await world.send("GET", "/_sim/requests")["requests"].elements
        #expect(journal?.isEmpty == true, "the console's own requests are not journaled")
    }

    /// The fields are made from the API's description, so that no effect is forgotten.
    @Test func everyEffectHasTheFieldsOfItsArgument() async throws {
        let world = try await TestWorld.make()
        let html = try await page(world, "/rules").text
        for effect in try await world.send("GET", "/_sim/choices")["lists.fault_effects"].items {
            #expect(html.contains("<option value=\"\(effect["id"].text ?? "?")\""))
        }
        for (effect, field) in [
            ("status", "status"), ("delay", "delay"), ("truncate_body", "truncate_body"), ("slow_body", "slow_body"),
            ("hold", "hold.when"), ("hold", "hold.for"), ("component_error", "component_error"),
        ] {
            let part = html.split(separator: "<div class=\"field\"").first { $0.contains("name=\"effect.\(field)\"") }
            #expect(part?.contains("data-for-effect=\"\(effect)\"") == true, "\(field)")
        }
        #expect(!html.contains("class=\"field\" data-for-effect=\"drop_connection\""))
        // Each effect has its sentence.
        for list in ["fault_effects", "webhook_effects"] {
            for effect in try await world.send("GET", "/_sim/choices")["lists.\(list)"].items {
                #expect(html.contains("class=\"hint\" data-for-effect=\"\(effect["id"].text ?? "?")\">"), "\(effect)")
            }
        }
    }

    @Test func readOnlyPagesHaveNoActions() async throws {
        let world = try await filled()
        for path in ["", "/items", "/rules", "/namespaces", "/users", "/settings", "/scenarios/late-result"] {
            let answer = try await world.send(
                "GET", "/_sim/console\(path)", headers: Self.html.merging(["Cookie": "sim_console_read_only=1"]) { $1 })
            #expect(answer.status == 200 && answer.text.contains("read-only"), "\(path)")
            #expect(
                !answer.text.contains("<button class=\"primary\"") && !answer.text.contains("data-call=\"DELETE\""),
                "\(path)")
        }
    }

    @Test func theAssetsAreServedAndSmall() async throws {
        let world = try await TestWorld.make()
        for (name, type) in [
            ("console.css", "text/css"), ("console.js", "text/javascript"), ("icon.svg", "image/svg+xml"),
        ] {
            let file = try await world.send("GET", "/_sim/console/assets/\(name)")
            #expect(file.status == 200 && file.headers.first(name: "Content-Type")?.hasPrefix(type) == true)
        }
        #expect(try await world.send("GET", "/_sim/console/assets/none").status == 404)
        let first = try await page(world, "")
        let style = try await world.send("GET", "/_sim/console/assets/console.css")
        let script = try await world.send("GET", "/_sim/console/assets/console.js")
        #expect(first.body.count + style.body.count + script.body.count < 200_000, "the first page is small")
    }
}
