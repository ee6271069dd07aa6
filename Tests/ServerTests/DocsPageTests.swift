import Console
import Foundation
import TestSupport
import Testing
import Yams

@testable import Server

/// The HTML of the page of the routes. `make test-console` drives its filter, its forms and its commands in a browser.
@Suite struct DocsPageTests {
    private static let page = Result { try DocsPage.html() }

    /// The articles' HTML by their ids.
    private static let articles = page.map { page in
        Dictionary(
            page.components(separatedBy: "<article id=\"").dropFirst().map { part in
                (String(part.prefix { $0 != "\"" }), part.components(separatedBy: "</article>")[0])
            }
        ) { first, _ in first }
    }

    /// The text of an article, without tags and without the form that tries the route.
    private func article(_ id: String) throws -> String {
        let article = try #require(try Self.articles.get()[id], "\(id)")
        // Each part but the first begins with a tag's words.
        let parts = article.components(separatedBy: "<details class=\"tool\">")[0].split(
            separator: "<", omittingEmptySubsequences: false)
        let text = parts.map { $0.firstIndex(of: ">").map($0.index(after:)).map($0.suffix(from:)) ?? $0 }.joined()
        return [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")].reduce(text) {
            $0.replacingOccurrences(of: $1.0, with: $1.1)
        }
    }

    /// The words that a reader may look for: names of parameters, members and headers, statuses and allowed values.
    private func words(_ operation: Node, in document: Node) -> Set<String> {
        var words: Set<String> = []
        func add(_ schema: Node?) {
            guard let schema, schema["$ref"] == nil else { return }
            for value in (schema["enum"]?.elements ?? []) + [schema["const"]].compactMap({ $0 }) {
                words.insert(value.json())
            }
            for (name, member) in schema["properties"]?.members ?? [] where member["not"] == nil {
                words.insert(name)
                add(member)
                add(member["items"])
            }
            for part in ["allOf", "oneOf"].flatMap({ schema[$0]?.elements ?? [] }) { add(part) }
            // An alternative that requires members is a condition on those that stand above.
            for part in schema["anyOf"]?.elements ?? [] where part["required"] == nil { add(part) }
        }
        for parameter in (operation["parameters"]?.elements ?? []).map({ $0.resolved(in: document) }) {
            words.insert(parameter.text("name"))
            add(parameter["schema"])
        }
        let body = operation["requestBody"]?.resolved(in: document)
        if let media = body?["content"]?.members.first, media.key == "application/json" {
            add(media.value["schema"]?.resolved(in: document))
        }
        for (status, response) in operation["responses"]?.members ?? [] {
            words.insert(status)
            // Every answer has an X-Request-Id, so the page does not repeat it at each status.
            words.formUnion(
                (response.resolved(in: document)["headers"]?.members.map(\.key) ?? []).filter { $0 != "X-Request-Id" })
        }
        return words
    }

    @Test func everyRouteShowsItsParametersMembersValuesStatusesAndHeaders() throws {
        let document = try Description.tree()
        var count = 0
        for (path, item) in document["paths"]?.members ?? [] {
            for (method, operation) in item.members {
                let text = try article(operation.text("operationId"))
                let missing = words(operation, in: document).filter { !text.contains($0) }
                #expect(missing.isEmpty, "\(method) \(path): \(missing.sorted())")
                count += 1
            }
        }
        #expect(count > 150)
    }

    @Test(arguments: [
        ("addFault", "drop_connection"), ("addFault", "lose_request"), ("addFault", "hold"),
        ("addFault", "component_error"),
        ("addFault", "DocumentExpired"), ("createWebhookV2", "secret_key"), ("authorizeUserV2", "unique_user_id"),
        ("login", "Retry-After"), ("login", "429"),
    ])
    func whatReadersLookForIsAtItsRoute(kind: String, word: String) throws {
        let routes = [
            "addFault": ("/_sim/faults", "post"), "createWebhookV2": ("/v2/webhooks", "post"),
            "authorizeUserV2": ("/v2/integrations/authorize-user", "post"), "login": ("/sdk/login", "post"),
        ]
        let (path, method) = try #require(routes[kind])
        let id = try #require(try Description.tree()["paths"]?[path]?[method]?.text("operationId"))
        #expect(try article(id).contains(word))
    }

    /// `effect` has one member of many.
    @Test func alternativesAreNamedAndShown() throws {
        let id = try #require(try Description.tree()["paths"]?["/_sim/faults"]?["post"]?.text("operationId"))
        let text = try article(id)
        #expect(text.contains("object with exactly one of status, delay, truncate_body"))
        #expect(text.contains("body with status"), "a member beside an alternative names it")
        let delay = try article("shape-FaultDelay")
        #expect(delay.contains("Duration or object with uniform or object with lognormal"))
        #expect(delay.contains("sigma"))
        let filter = try article("shape-FormFactorFilter")
        #expect(filter.contains("value if key is activity.form_factor") && filter.contains("free_camera"))
    }

    @Test func pathsBreakBetweenTheirPartsOnly() throws {
        let page = try Self.page.get()
        #expect(page.contains(">/sdk<wbr>/captures<wbr>/{id}<wbr>/images<wbr>/{region_id}</a>"))
        #expect(!page.contains("overflow-wrap: anywhere"))
        #expect(Prose.breakable("/") == "/" && Prose.breakable("/a/<b>") == "/a<wbr>/&lt;b&gt;")
    }

    /// Without the script there are no fields that do nothing.
    @Test func toolsNeedTheScript() throws {
        let page = try Self.page.get()
        #expect(page.contains("html:not(.js) .tool { display: none !important; }"))
        let tools = page.matches(of: /<(?:div|details)[^>]* class="tool"/).count
        #expect(tools == page.components(separatedBy: "<form ").count - 1 + 2)
        #expect(page.contains(DocsPage.quotingFunction()) && DocsPage.quotingFunction().contains("TextEncoder"))
        #expect(page.utf8.count < 1_700_000, "\(page.utf8.count) bytes")
    }

    @Test func commandsHaveTheControlTokenWhereTheServerRequiresIt() throws {
        #expect(!(try Self.page.get()).contains(" data-control>"))
        let page = try DocsPage.html(needsControlToken: true)
        let marked = Set(
            page.matches(of: /data-path="([^"]*)"[^>]* data-control>/).map { String($0.1) })
        #expect(marked.contains("/_sim/clock") && marked.contains("/_sim/docs") && marked.contains("/_sim/metrics"))
        let open: Set = [
            "/_sim/health", "/_sim/ready", "/_sim/ping", "/_sim/authority.pem", "/_sim/console/token", "/openapi.yaml",
            "/openapi.json", "/sdk/login", "/v2/webhooks",
        ]
        #expect(marked.isDisjoint(with: open), "\(marked.intersection(open))")
    }

    // MARK: JSON

    @Test(arguments: [
        ("{a: 1, b: [true, null, ~, 'x']}", #"{"a":1,"b":[true,null,null,"x"]}"#),
        ("{b: .5, a: 1.50, c: 1e3, d: -0.0}", #"{"b":0.5,"a":1.50,"c":1e3,"d":-0.0}"#),
        ("{a: .inf, b: .nan}", #"{"a":".inf","b":".nan"}"#),
        ("{a: 0x10, b: 'off', c: off}", #"{"a":16,"b":"off","c":false}"#),
        (
            #"["\t\0\e\"\\/", "\x1f\x7f", "é\u2028"]"#,
            "[\"\\u0009\\u0000\\u001b\\\"\\\\/\",\"\\u001f\u{7f}\",\"é\u{2028}\"]"
        ),
        ("{a: {}, b: [], c: ''}", #"{"a":{},"b":[],"c":""}"#), ("[&x {a: 1}, *x]", #"[{"a":1},{"a":1}]"#),
    ])
    func yamlBecomesJSON(yaml: String, json: String) throws {
        let node = try #require(try Yams.compose(yaml: yaml))
        #expect(node.json(indent: nil) == json)
        #expect(throws: Never.self) {
            _ = try JSONSerialization.jsonObject(with: Data(node.json(indent: nil).utf8))
            _ = try JSONSerialization.jsonObject(with: Data(node.json().utf8))
        }
    }

    @Test func theDescriptionAsJSONIsTheSameEveryTime() throws {
        let (one, other) = (try Description.json(), try Description.json())
        #expect(one.plain == other.plain)
        let text = String(buffer: one.plain)
        #expect(text.hasPrefix(#"{"openapi":"3.1.0","info":{"title":"entrupy-sim","#) && text.hasSuffix("}\n"))
    }
}
