import EntrupyAPI
import Simulation

/// Parts of the commands that meet Entrupy's edges. They are for a shell with the environment of `entrupy-sim run`.
enum EntrupyLines {
    /// The options of a back end, of an app whose user has logged in, and of the example back end.
    static let backend = #"-H "Authorization: Token $ENTRUPY_SIM_API_TOKEN""#
    static let user = #"-H "Authorization: Token $(entrupy-sim users login)""#
    static let partner =
        #"-H "Authorization: Token $(curl -s -H 'Content-Type: application/json' -d '{"username": "demo", "password": "demo"}' "$ENTRUPY_SIM_URL/partner/login" | sed -E 's/.*"token": ?"([^"]*)".*/\1/')""#

    /// A request of an app, with the shell's variables `ID` and `TOKEN`.
    static func call(_ method: String, _ path: String, _ options: String = "", json: String? = nil) -> String {
        CurlLine.call(method, path, #"-H "Authorization: Token $TOKEN""#, options, json: json)
    }

    /// Logs in the user of the commands.
    static let token = "TOKEN=$(entrupy-sim users login)"
    static let session = call("GET", "/sdk/session")
    static let health = CurlLine.call("GET", "/v1/health", backend, "-H 'Api-Version: 1.4'")
    /// A whole item, whose result comes after the usual delay.
    static let item = "entrupy-sim capture run --sku any-1"

    /// A registered fingerprint.
    static let registered = "$(entrupy-sim capture run --sku sim-registered-after-0s --activity fingerprint_register)"

    private static let anyItem =
        #"{"item": {"brand": "Nike", "item_type": "sneakers", "style_name": "Any", "customer_item_id": "any-1"}}"#
    /// Begins a capture, whose id is then `ID`.
    static let start = "\(token); \(CurlLine.set("ID", "capture_id", of: call("POST", "/sdk/captures", json: anyItem)))"

    /// Begins a capture and makes further requests about it.
    static func ofCapture(_ calls: String...) -> String { ([start] + calls).joined(separator: "; ") }

    /// Begins a capture, lets it time out, and makes a request about it.
    static func ofTimedOut(_ call: String) -> String { ofCapture("entrupy-sim clock advance 2h", call) }

    /// Makes an item that has a result at once, whose id is then `ID`, and further requests about it.
    static func ofItem(_ result: ResultID, _ calls: String...) -> String {
        let made = "ID=$(entrupy-sim capture run --sku sim-\(result.rawValue)-after-0s)"
        return ([token, made] + calls).joined(separator: "; ")
    }

    // MARK: Flags

    /// Sets or clears the flag of the item `ID`.
    static func flag(_ isSet: Bool) -> String {
        call(
            "PUT", "/sdk/results/$ID/flag",
            json: isSet ? #"{"flag": true, "flag_reason_id": "wrong_result"}"# : #"{"flag": false}"#)
    }

    static let flagged = ofItem(.unknown, flag(true))
    static let resolved = "entrupy-sim items resolve-flag $ID --note Seen"

    // MARK: Limits

    /// Requests beyond a limit that is lowered first.
    static func limited(_ limit: String, _ call: String) -> String {
        "entrupy-sim settings set rate_limits.\(limit) 1; \(token); for i in 1 2 3; do \(call); done"
    }

    /// Logins beyond a limit that is lowered first. The user of the other commands has none.
    static func logins(_ limit: String) -> String {
        "entrupy-sim settings set rate_limits.\(limit) 1; for i in 1 2; do entrupy-sim users login met-often; done"
    }
}
