import EntrupyAPI
import Simulation

extension EntrupyLines {
    /// Commands that play the clients of the shipped scenarios.
    static var scenarios: [String: String] {
        clients.reduce(into: [:]) { lines, client in
            let steps = ["entrupy-sim scenario start \(client.key)"] + client.value
            lines[client.key] = (steps + ["entrupy-sim scenario verify \(client.key)"]).joined(separator: "; ")
        }
    }

    private static let exampleUser = "example-user-id"
    private static let exampleLogin = "TOKEN=$(entrupy-sim users login example-user-id)"
    private static let signedOnce = signed("one@example.com", exampleUser)

    private static func advance(_ time: String) -> String { "entrupy-sim clock advance \(time)" }

    private static let result = call("GET", "/sdk/results/$ID")

    private static func run(_ sku: String, _ options: String = "") -> String {
        "ID=$(entrupy-sim capture run --sku \(sku)\(options))"
    }

    /// Finds an item by its customer_item_id. Its id is then `ID`.
    private static func find(_ sku: String) -> String {
        CurlLine.set("ID", "entrupy_id", of: CurlLine.call("GET", "/v2/lookup/authentications/\(sku)", backend))
    }

    private static let search = call("POST", "/sdk/search", json: #"{"limit": 25}"#)

    /// Uploads every picture of sneakers, `times` times.
    private static func uploadAll(times: Int = 1) -> String {
        let uploads = Array(repeating: upload("$R"), count: times).joined(separator: "; ")
        return
            "for R in outer_side inner_side toe_box heel outsole size_tag insole_stitching box_label; do \(uploads); done"
    }

    /// Receives webhooks in the background, until `RECEIVER` is killed.
    private static let listen = "entrupy-sim webhooks listen & RECEIVER=$!"

    private static let submit = call("POST", "/sdk/captures/$ID/submit")

    private static let logIn =
        #"curl -s -H 'Content-Type: application/json' -d "{\"signed_authorization_request\": \"$SIGNED\"}" "$ENTRUPY_SIM_URL/sdk/login""#

    private static let nextPage =
        #"curl -s -H "Authorization: Token $TOKEN" -H 'Content-Type: application/json' -d "{\"limit\": 25, \"cursor\": $NEXT}" "$ENTRUPY_SIM_URL/sdk/search""#

    /// Sets `NEXT` to the cursor of a page, which is a list.
    private static func cursor(of page: String) -> String {
        #"NEXT=$(\#(page) | sed -E 's/.*"next_cursor": ?(\[[^]]*\]).*/\1/')"#
    }

    private static let results = ["authentic", "unknown", "not-supported", "invalid", "review"]

    /// The steps of each client, as the scenario's description tells them.
    static let clients: [String: [String]] = [
        "burst-limit": [token, session, session, session, advance("1s"), session],
        "capture-times-out": [start, advance("2h"), submit],
        "conflicting-user-data": [
            authorize("v2", "one@example.com", exampleUser), signed("two@example.com", exampleUser), logIn,
        ],
        "cursor-under-concurrent-inserts": [
            exampleLogin, cursor(of: search), advance("1m"), cursor(of: nextPage), nextPage,
        ],
        "debug-configuration": [token, run("any-1", " --config-type debug"), result],
        "each-result": [token] + results.map { run("result-\($0)") + "; IDS=\"$IDS $ID\"" }
            + [advance("1m"), "for ID in $IDS; do \(result); done"],
        "expired-session": [token, session, advance("1h"), session, token, session],
        "flag-and-clear": [exampleLogin, find("flag-1"), flag(true), flag(false)],
        "flag-ineligible-item": [exampleLogin, find("broken-1"), result, find("plain-1"), result, flag(true)],
        "late-result": [token, run("late-1"), result, advance("3h"), result],
        "late-result-then-disputed": [
            token, run("late-1"), advance("3h"), search, search, search, flag(true), advance("1h"), result,
        ],
        "login-limit": [
            "for i in 1 2 3 4 5 6; do entrupy-sim users login met-often; done", advance("1m"),
            "entrupy-sim users login met-often",
        ],
        "revoked-session": [start, advance("10m"), upload("heel"), token, uploadAll(), submit],
        "same-sku-twice": [
            token, listen, "sleep 3", run("twice-1"), advance("10m"), run("twice-1"), advance("4h"), flag(true),
            "kill $RECEIVER",
        ],
        "server-errors-and-time-outs": [
            token, "for i in 1 2 3 4 5 6; do \(session.replacing("curl -s", with: "curl -s -m 1")); done",
        ],
        "signed-request-used-twice": [signedOnce, logIn, logIn, signedOnce, logIn],
        "submit-answer-lost": [
            start.replacing("any-1", with: "lost-1"), uploadAll(), submit, CurlLine.set("ID", "entrupy_id", of: submit),
            advance("1m"), result,
        ],
        "upload-failure": [start, uploadAll(times: 3), submit],
        "vendor-changes-tomorrow": [
            token, listen, "sleep 3", run("tomorrow-1"), advance("1h"), result, "kill $RECEIVER",
        ],
        "webhook-receiver-down-then-up": [listen, "sleep 3", run("any-1"), advance("1h"), "kill $RECEIVER"],
    ]
}
