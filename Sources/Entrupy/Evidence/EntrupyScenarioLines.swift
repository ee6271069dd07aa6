import EntrupyAPI
import Simulation

// Commands that play the clients of the shipped scenarios.
extension EntrupyPlatform {
    package var scenariosMetWith: [String: String] {
        EntrupyLines.clients.reduce(into: [:]) { lines, client in
            let steps = ["entrupy-sim scenario start \(client.key)"] + client.value
            lines[client.key] = (steps + ["entrupy-sim scenario verify \(client.key)"]).joined(separator: "; ")
        }
    }
}

extension EntrupyLines {
    private static let login = "TOKEN=$(entrupy-sim users login)"
    private static let exampleLogin = "TOKEN=$(entrupy-sim users login example-user-id)"

    private static func advance(_ time: String) -> String { "entrupy-sim clock advance \(time)" }

    private static func result(_ id: String = "$ID") -> String { Call.call("GET", "/sdk/results/\(id)").line }

    private static func run(_ sku: String, _ options: String = "") -> String {
        "ID=$(entrupy-sim capture run --sku \(sku)\(options))"
    }

    /// Finds an item by its customer_item_id. Its id is then `ID`.
    private static func find(_ sku: String) -> String {
        CurlLine.set("ID", "entrupy_id", of: CurlLine.call("GET", "/v2/lookup/authentications/\(sku)", backend))
    }

    private static let search = Call.call("POST", "/sdk/search", json: #"{"limit": 25}"#).line

    /// Uploads every picture of sneakers, `times` times.
    private static func uploadAll(times: Int = 1) -> String {
        let uploads = Array(repeating: upload("$R").line, count: times).joined(separator: "; ")
        return
            "for R in outer_side inner_side toe_box heel outsole size_tag insole_stitching box_label; do \(uploads); done"
    }

    private static let submit = Call.call("POST", "/sdk/captures/$ID/submit").line

    private static func authorize(_ email: String) -> String {
        CurlLine.call(
            "POST", "/v2/integrations/authorize-user", backend,
            json: #"{"sdk_authorization_request": "met", "unique_user_id": "example-user-id", "email": "\#(email)"}"#)
    }

    private static func signed(_ email: String) -> String {
        CurlLine.set("SIGNED", "signed_authorization_request", of: authorize(email))
    }

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
        "burst-limit": [login, session, session, session, advance("1s"), session],
        "capture-times-out": [start, advance("2h"), submit],
        "conflicting-user-data": [authorize("one@example.com"), signed("two@example.com"), logIn],
        "cursor-under-concurrent-inserts": [
            exampleLogin, cursor(of: search), advance("1m"), cursor(of: nextPage), nextPage,
        ],
        "debug-configuration": [login, run("any-1", " --config-type debug"), result()],
        "each-result": [login] + results.map { run("result-\($0)") + "; IDS=\"$IDS $ID\"" }
            + [advance("1m"), "for ID in $IDS; do \(result()); done"],
        "expired-session": [login, session, advance("1h"), session, login, session],
        "flag-and-clear": [exampleLogin, find("flag-1"), flag(true), flag(false)],
        "flag-ineligible-item": [exampleLogin, find("broken-1"), result(), find("plain-1"), result(), flag(true)],
        "late-result": [login, run("late-1"), result(), advance("3h"), result()],
        "late-result-then-disputed": [
            login, run("late-1"), advance("3h"), search, search, search, flag(true), advance("1h"), result(),
        ],
        "login-limit": [
            "for i in 1 2 3 4 5 6; do entrupy-sim users login met-often; done", advance("1m"),
            "entrupy-sim users login met-often",
        ],
        "revoked-session": [start, advance("10m"), upload("heel").line, login, uploadAll(), submit],
        "server-errors-and-time-outs": [
            login, "for i in 1 2 3 4 5 6; do \(session.replacing("curl -s", with: "curl -s -m 1")); done",
        ],
        "signed-request-used-twice": [signed("one@example.com"), logIn, logIn, signed("one@example.com"), logIn],
        "upload-failure": [start, uploadAll(times: 3), submit],
        "webhook-receiver-down-then-up": [
            "entrupy-sim webhooks listen & RECEIVER=$!", "sleep 3", run("any-1"), advance("1h"), "kill $RECEIVER",
        ],
    ]
}
