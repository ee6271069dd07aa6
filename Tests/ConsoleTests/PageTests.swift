import Foundation
import SimulationAPI
import TestSupport
import Testing

@testable import Console

/// Pages over a control API whose answers the test sets.
@Suite struct PageTests {
    /// - Parameter answers: the answers by path; one with a query is taken for that query alone.
    private func page(
        _ path: [String], query: [String: String] = [:], isReadOnly: Bool = false, _ answers: [String: String]
    ) async throws -> ConsolePage {
        let console = Console(version: "1", proof: "proof-1")
        let request = ConsoleRequest(
            namespace: "a", path: path, query: query, isReadOnly: isReadOnly, url: "http://127.0.0.1:1/ns/a")
        return await console.page(request) { path in
            if path == "/openapi.json" { return (200, Data("{}".utf8)) }
            let plain = path.split(separator: "?")[0].dropFirst("/_sim/".count)
            guard let text = answers[String(path.dropFirst("/_sim/".count))] ?? answers[String(plain)] else {
                return (
                    404,
                    Data(#"{"code":"not_found","details":[],"error":"gone","request_id":"r","sdk_error":null}"#.utf8)
                )
            }
            return (200, Data(text.utf8))
        }
    }

    private func request(_ sequence: Int, after: Int, through: Int) -> String {
        #"{"id":"req_\#(sequence)","sequence":\#(sequence),"at":5,"method":"GET","path":"/p\#(sequence)","query":null,"status":200,"delivered":true,"duration_ms":1,"username":null,"test":null,"decided_by":{"fault":null,"limits":[],"outcome":null},"changes":{"after":\#(after),"through":\#(through)}}"#
    }

    private func event(_ sequence: Int) -> String {
        #"{"sequence":\#(sequence),"at":5,"kind":"capture.started","subject":"cap_\#(sequence)","data":{}}"#
    }

    /// A rule that was triggered as often as it may be has no effect any more.
    @Test func aRuleThatIsUsedUpSaysSo() async throws {
        func fault(_ id: String, hits: Int) -> String {
            #"{"id":"\#(id)","match":{},"effect":{"status":503},"probability":null,"times":2,"after_requests":0,"seen":2,"hits":\#(hits),"notes":[],"note_details":[]}"#
        }
        let answers = [
            "faults": "{\"faults\":[\(fault("flt_a", hits: 1)),\(fault("flt_b", hits: 2))]}",
            "outcomes": "{\"outcomes\":[]}", "choices": "{\"routes\":[],\"lists\":{}}", "held": "{\"held\":[]}",
        ]
        let rows = try await page(["rules"], answers).html.components(separatedBy: "<tr id=\"")
        #expect(rows.first { $0.hasPrefix("flt_a") }?.contains("used up") == false)
        #expect(rows.first { $0.hasPrefix("flt_b") }?.contains("used up") == true)
    }

    /// All have the same time, as on a frozen clock. A request stands below the changes that it made.
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

    private static let clock =
        #"{"now":"2026-01-05T09:00:00Z","epoch":1767603600,"mode":"frozen"}"#

    private func subscription(_ id: String, failing: String) -> String {
        #"{"id":"\#(id)","organization":"DemoOrg","url":"http://h/\#(id)","events":["session.completed"],"username":null,"version":"v2","format":"items","signature":"hex","status":"active","verification":null,"created_at":"2026-01-05T09:00:00Z","open_deliveries":1,"failing":\#(failing)}"#
    }

    private func delivery(_ id: String, _ status: String, next: String = "null", more: String = "") -> String {
        #"{"id":"\#(id)","subscription_id":"wh_b","url":"http://h/wh_b","event":"session.updated","event_id":"evt_1","format":"items","entrupy_id":"QZ5HXWOU","status":"\#(status)","created_at":1767603600,"next_attempt_at":\#(next),"fault":null,"body":{},"attempts":[]\#(more)}"#
    }

    @Test func twoStatesAreBesideEachOther() async throws {
        let answers = [
            "namespaces": #"{"namespaces":[]}"#, "snapshots": #"{"snapshots":[]}"#, "clock": Self.clock,
            "diff?from=now&to=namespace%3Ab":
                #"{"equal":false,"objects":[{"kind":"item","key":{"customer_item_id":"<i>","nth":2},"change":"changed","members":[{"name":"result","from":null,"to":"unknown"}]},{"kind":"user","key":{},"change":"removed","members":[{"name":"email","from":"a@b","to":null}]}],"ignored":["id"],"truncated":true}"#,
        ]
        let html = try await page(["diff"], query: ["from": "now", "to": "namespace:b"], answers).html
        #expect(html.contains("more than 0 added, 1 removed, 1 changed") && html.contains("lists up to 10,000"))
        #expect(html.contains("customer_item_id &lt;i&gt;, nth 2") || html.contains("customer_item_id &lt;i>, nth 2"))
        #expect(html.contains(#"<bdi class="mono">–</bdi> → <bdi class="mono">unknown</bdi>"#))
        #expect(html.contains(#"<span class="dim">email</span> <bdi class="mono">a@b</bdi></div>"#))
        #expect(html.contains("entrupy-sim diff now namespace:b --namespace a"), "\(html)")
        // A state that does not exist is the server's answer.
        #expect(try await page(["diff"], query: ["from": "now", "to": "now"], ["clock": Self.clock]).status == 404)
        #expect(try await page(["diff"], query: ["from": "now"], answers).html.contains("Not compared") == false)
    }

    @Test func failuresComeFirstAndSayWhy() async throws {
        let failing =
            #"{"delivery":"dlv_b","event":"session.updated","attempt":3,"at":1767603600,"status":500,"error":null}"#
        func list(_ deliveries: String...) -> String {
            "{\"deliveries\":[\(deliveries.joined(separator: ","))],\"next_cursor\":null}"
        }
        let failed = delivery("dlv_f", "failed")
        let retrying = delivery("dlv_r", "retrying", next: "1767603900")
        let html = try await page(
            ["webhooks"],
            [
                "webhooks":
                    "{\"webhooks\":[\(subscription("wh_a", failing: "null")),\(subscription("wh_b", failing: failing))]}",
                "choices": "{\"routes\":[],\"lists\":{}}",
                "webhook-deliveries?limit=20&status=failed": list(failed),
                "webhook-deliveries?limit=20&status=retrying": list(retrying),
                "webhook-deliveries": list(
                    delivery("dlv_n", "delivered"),
                    delivery("dlv_w", "waiting", more: #","waits_for":"dlv_r""#),
                    delivery("dlv_h", "sending", more: #","held_back":"<b>16 are under way""#), retrying, failed),
                "clock": Self.clock,
            ]
        ).html
        let rows = html.matches(of: /<tr[^>]* id="((?:wh|dlv)_[a-z])"/).map { String($0.1) }
        #expect(rows == ["wh_b", "wh_a", "dlv_f", "dlv_r", "dlv_n", "dlv_w", "dlv_h"], "each once, failures first")
        #expect(html.contains(#"id="wh_b" data-key="wh_b" class="failing""#))
        #expect(html.contains("the receiver answered 500") && !html.contains(#"data-key="wh_a" class"#))
        #expect(
            html.contains(
                #"waits for <a class="mono" tabindex="-1" href="/ns/a/_sim/console/webhooks/deliveries/dlv_r">dlv_r</a>"#
            ))
        #expect(
            html.contains("waits for a connection: &lt;b>16") || html.contains("waits for a connection: &lt;b&gt;16"))
        #expect(html.contains(#"data-left="300.0""#), "the time until the next attempt")
    }

    @Test func anAttemptIsOneLineWithItsReceiver() async throws {
        func attempt(_ sequence: Int, _ data: String) -> String {
            #"{"sequence":\#(sequence),"at":5,"kind":"webhook.attempted","subject":"dlv_\#(sequence)","data":{"event":"session.updated","attempt":2,\#(data)}}"#
        }
        let events = [
            attempt(3, #""subscription_id":"wh_a","status":null,"error":"connection refused","delivery":"retrying""#),
            attempt(2, #""subscription_id":"wh_a","status":200,"error":null,"delivery":"delivered""#),
            attempt(1, #""subscription_id":"wh_gone","status":500,"error":null,"delivery":"failed""#),
        ]
        let html = try await page(
            [],
            [
                "requests": "{\"requests\":[],\"next_cursor\":null}",
                "event-log": "{\"events\":[\(events.joined(separator: ","))],\"next_cursor\":null}",
                "webhooks": "{\"webhooks\":[\(subscription("wh_a", failing: "null"))]}",
            ]
        ).html
        let rows = html.components(separatedBy: "<tr class=\"row attempt\"").dropFirst().map { row in
            row.components(separatedBy: "</tr>")[0].replacing(#/<[^>]*>/#, with: "").split { $0.isWhitespace }
                .joined(separator: " ")
        }
        try #require(rows.count == 3)
        #expect(rows[0].hasSuffix("⇢ session.updated http://h/wh_a attempt 2: connection refused, retrying"))
        #expect(rows[1].contains(" 200 ") && rows[1].hasSuffix("http://h/wh_a attempt 2, delivered"))
        #expect(rows[2].contains(" 500 ") && rows[2].hasSuffix("(deleted subscription) attempt 2, failed"))
    }

    /// The answers are those of the queries that the page must send: another one gets nothing.
    @Test func aUserNeedsNoOrganization() async throws {
        func user(_ organization: String) -> String {
            #"{"id":"\#(organization)-ada","username":"\#(organization)-ada","unique_user_id":"ada","organization":"\#(organization)","email":null,"first_name":null,"last_name":null,"test_user":false,"created_at":5,"sessions":0,"submissions":0,"quota":null,"rate_limits":null,"budgets":{"sdk_this_second":null,"logins_this_minute":null,"logins_this_day":null}}"#
        }
        func users(_ users: String...) -> String {
            "{\"users\":[\(users.joined(separator: ","))],\"next_cursor\":null}"
        }
        let found = "{\"requests\":[\(request(1, after: 0, through: 0))],\"next_cursor\":null}"
        let ofDemo = "requests?username=DemoOrg-ada&limit=100"
        var answers = [ofDemo: found, "users?unique_user_id=ada&limit=5": users(user("DemoOrg"))]
        var html = try await page([], query: ["q": "user:ada"], answers).html
        #expect(html.contains("data-key=\"r1-req_1\"") && !html.contains("Several organizations"))
        answers["users?unique_user_id=ada&limit=5"] = users(user("DemoOrg"), user("OtherOrg"))
        html = try await page([], query: ["q": "user:ada"], answers).html
        #expect(html.contains("data-key=\"r1-req_1\"") && html.contains("q=user%3AOtherOrg-ada"))
        // A whole name is taken as it is, also if another organization has a user of this id.
        answers = [
            "requests?username=ada&limit=100": found, "users?unique_user_id=ada&limit=5": users(user("DemoOrg")),
            "users/ada": user("DemoOrg"),
        ]
        #expect(try await page([], query: ["q": "user:ada"], answers).html.contains("data-key=\"r1-req_1\""))
    }

    @Test func aSKUFindsItsItemAndWhatHappenedToIt() async throws {
        let item =
            #"{"id":"QZ5HXWOU","entrupy_id":"QZ5HXWOU","customer_item_id":"sku-1","username":"u","brand":"nike","brand_name":"Nike","product_category":"sneakers","result":{"id":"authentic","final":true,"reason":null},"flag":"none","submitted_at":5,"decided_by":"control","thumbnail":null}"#
        let answers = [
            "requests?text=sku-1&limit=100":
                "{\"requests\":[\(request(1, after: 1, through: 1))],\"next_cursor\":null}",
            "authentications?text=sku-1&limit=5": "{\"authentications\":[\(item)],\"next_cursor\":null}",
            "event-log?subject=QZ5HXWOU&limit=100": "{\"events\":[\(event(2))],\"next_cursor\":null}",
        ]
        let html = try await page([], query: ["q": "sku-1"], answers).html
        #expect(html.contains("/ns/a/_sim/console/items/QZ5HXWOU\">QZ5HXWOU</a>"))
        #expect(html.contains("data-key=\"r1-req_1\"") && html.contains("data-key=\"e2\""))
    }

    /// Many webhooks in a row leave no page of changes empty.
    @Test func changesAreFoundBehindWebhooks() async throws {
        func log(_ events: [String], next: String) -> String {
            "{\"events\":[\(events.joined(separator: ","))],\"next_cursor\":\(next)}"
        }
        let webhooks = (101...200).reversed().map {
            #"{"sequence":\#($0),"at":5,"kind":"webhook.attempted","subject":"dlv_\#($0)","data":{}}"#
        }
        let answers = [
            "event-log?limit=100": log(webhooks, next: "\"c\""),
            "event-log?before_sequence=101&limit=100": log([event(100), event(99)], next: "null"),
        ]
        let html = try await page([], query: ["q": "show:changes"], answers).html
        #expect(html.matches(of: /data-key="(e[0-9]+)"/).map { String($0.1) } == ["e100", "e99"])
        #expect(html.contains("data-place=\"0.200\""))
    }

    @Test func scenariosAreGroupedAndTheRunningOneIsFirst() async throws {
        func scenario(_ name: String, _ source: String = "shipped") -> String {
            #"{"id":"\#(name)","name":"\#(name)","description":"One\nsentence.\n\nMore.","source":"\#(source)","actions":0,"expectations":1}"#
        }
        var answers = [
            "scenarios":
                "{\"scenarios\":[\(["burst", "component-a", "component-b", "late"].map { scenario($0) }.joined(separator: ",")),\(scenario("mine", "namespace"))]}"
        ]
        func order() async throws -> [String] {
            try await page(["scenarios"], answers).html.matches(of: /data-key="([a-z-]+)"/).map { String($0.1) }
        }
        #expect(
            try await order() == [
                "group-namespace", "mine", "group-entrupy", "burst", "late", "group-components", "component-a",
                "component-b",
            ])
        answers["event-log"] =
            #"{"events":[{"sequence":1,"at":5,"kind":"scenario.started","subject":"component-b","data":{}}],"next_cursor":null}"#
        answers["scenarios/component-b"] =
            "{\"scenario\":\(scenario("component-b")),\"text\":\"\",\"run\":{\"name\":\"component-b\",\"namespace\":\"a\",\"url\":\"\",\"started_at\":5,\"clock\":\(Self.clock),\"verified\":false,\"timeline\":[],\"expectations\":[{\"expectation\":\"x\",\"line\":1,\"passed\":false,\"found\":0,\"problem\":null}],\"notes\":[]}}"
        #expect(try await order().prefix(3) == ["group-components", "component-b", "component-a"])
        let html = try await page(["scenarios"], answers).html
        #expect(
            html.contains("running: 0 of 1 met") && html.contains("One sentence.") && html.contains("1 expectation<"))
        #expect(!html.contains("0 actions"))
    }

    /// Why an answer did not arrive stands beside what decided it; the status has a mark.
    @Test func aLostAnswerIsAMarkAndIsExplained() async throws {
        func lost(_ sequence: Int, status: String, effect: String) -> String {
            request(sequence, after: 0, through: 0).replacing("\"status\":200", with: "\"status\":\(status)")
                .replacing("\"delivered\":true", with: "\"delivered\":false,\"effect\":\(effect)")
        }
        let answers = [
            "requests":
                "{\"requests\":[\(lost(3, status: "null", effect: #"{"lose_request":true}"#)),\(lost(2, status: "200", effect: #"{"truncate_body":1}"#)),\(lost(1, status: "200", effect: #"{"drop_connection":true}"#))],\"next_cursor\":null}",
            "event-log": "{\"events\":[],\"next_cursor\":null}",
        ]
        let html = try await page([], answers).html
        let rows = html.components(separatedBy: "<tr class=\"row\"").dropFirst()
        try #require(rows.count == 3)
        for (row, words) in zip(rows, ["request lost", "answer cut off", "answer lost"]) {
            let cells = row.components(separatedBy: "<td").dropFirst()
            #expect(cells[2].contains("class=\"mark bad\" title=\"not delivered: "), "\(row)")
            #expect(!cells[2].contains("pill") && cells[5].contains(">\(words)</span>"), "\(row)")
        }
    }

    /// Numbers of one have no plural.
    @Test func oneFindingIsNotTwo() async throws {
        func finding(_ level: String) -> String {
            #"{"level":"\#(level)","rule":"r","text":"t","source":"s","count":1,"requests":[],"test":null}"#
        }
        func counts(_ levels: String...) async throws -> String {
            let answer = "{\"findings\":[\(levels.map(finding).joined(separator: ","))],\"rules\":[]}"
            let html = try await page(["audit"], ["audit": answer]).html
            return html.firstMatch(of: /<p>([0-9][^<]*)<\/p>/).map { String($0.1) } ?? html
        }
        #expect(try await counts("error") == "1 error, 0 warnings")
        #expect(try await counts("error", "error", "warning") == "2 errors, 1 warning")
    }

    private static let choices =
        #"{"routes":[],"lists":{"brands":[{"id":"louis_vuitton","name":"Louis Vuitton"}],"fault_effects":[{"id":"lose_request","name":"lose_request","about":"Resets the connection before the request is handled."},{"id":"of_a_plugin","name":"of_a_plugin"}]}}"#

    @Test func brandsHaveTheirNames() async throws {
        let item =
            #"{"id":"QZ5HXWOU","entrupy_id":"QZ5HXWOU","customer_item_id":"sku-1","username":"u","brand":"louis_vuitton","brand_name":"Louis Vuitton","product_category":"luxury","result":{"id":"authentic","final":true,"reason":null},"flag":"none","submitted_at":5,"decided_by":"control","thumbnail":null}"#
        let html = try await page(
            ["items"],
            [
                "authentications": "{\"authentications\":[\(item)],\"next_cursor\":null}", "choices": Self.choices,
                "clock": Self.clock,
            ]
        ).html
        #expect(html.contains("data-label=\"Brand\">Louis Vuitton<br>") && !html.contains("louis_vuitton<br>"))
    }

    @Test func anOutcomeRuleNamesItsBrand() async throws {
        let rule =
            #"{"id":"out_a","match":{"brand":"louis_vuitton"},"result":"unknown","reason":null,"after":null,"times":1,"hits":1,"notes":[],"note_details":[]}"#
        let answers = [
            "faults": "{\"faults\":[]}", "outcomes": "{\"outcomes\":[\(rule)]}", "choices": Self.choices,
            "held": "{\"held\":[]}",
        ]
        #expect(try await page(["rules"], answers).html.contains(">brand Louis Vuitton<"))
    }

    /// An effect that this version does not know has no sentence, and can be chosen all the same.
    @Test func theFaultFormSaysWhatAnEffectDoesAndBreaksOneRequest() async throws {
        let answers = [
            "faults": "{\"faults\":[]}", "outcomes": "{\"outcomes\":[]}", "choices": Self.choices,
            "held": "{\"held\":[]}",
        ]
        let html = try await page(["rules"], answers).html
        #expect(html.contains("<option value=\"of_a_plugin\">"))
        #expect(
            html.matches(of: /data-for-effect="([a-z_]+)">([^<]+)</).map { "\($0.1): \($0.2)" } == [
                "lose_request: Resets the connection before the request is handled."
            ])
        #expect(html.matches(of: /name="times"[^>]* value="1"/).count == 2, "requests and webhooks")
    }

    @Test func theNavigationHasGroups() async throws {
        let html = try await page(["webhooks", "check"], [:]).html
        let titles = html.matches(of: /<p class="group" id="([a-z0-9-]+)">([^<]+)</)
        #expect(titles.map { String($0.2) } == ["What happens", "What is there", "Decide", "Judge", "Server"])
        #expect(titles.someAndAll { html.contains("<ul aria-labelledby=\"\($0.1)\">") })
    }

    @Test(arguments: [
        ("a.html", true), ("run-1_b.2.html", true), ("a.txt", false), (".html", false), (".a.html", false),
        ("a\".html", false), ("a\r\nb.html", false), ("ä.html", false),
        (String(repeating: "a", count: 200) + ".html", false),
    ])
    func aReportHasTheNameOfAFile(name: String, isValid: Bool) async throws {
        #expect(ReportPage.isFileName(name) == isValid)
        let page = try await page(["report", name], [:])
        #expect(page.status == 404 && page.file == nil, "the namespace is gone, or there is no such page")
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
