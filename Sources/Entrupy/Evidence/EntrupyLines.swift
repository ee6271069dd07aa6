import EntrupyAPI
import Simulation

/// Parts of the commands that meet Entrupy's edges. They are for a shell with the environment of `entrupy-sim run`.
enum EntrupyLines {
    /// The options of a back end, of an app whose user has logged in, and of the example back end.
    static let backend = #"-H "Authorization: Token $ENTRUPY_SIM_API_TOKEN""#
    static let user = #"-H "Authorization: Token $(entrupy-sim users login)""#
    static let partner =
        #"-H "Authorization: Token $(curl -s -H 'Content-Type: application/json' -d '{"username": "demo", "password": "demo"}' "$ENTRUPY_SIM_URL/partner/login" | sed -E 's/.*"token": ?"([^"]*)".*/\1/')""#

    /// A request of a step, with the shell's variables `ID` and `TOKEN`.
    struct Call {
        let line: String

        static func call(_ method: String, _ path: String, _ options: String = "", json: String? = nil) -> Call {
            Call(line: CurlLine.call(method, path, #"-H "Authorization: Token $TOKEN""#, options, json: json))
        }

        /// A request of a user who has just logged in, about nothing that exists.
        static func withToken(_ call: Call) -> String { "\(EntrupyLines.token); \(call.line)" }

        /// The same for a back end.
        static func backend(_ method: String, _ path: String, json: String? = nil) -> Call {
            Call(line: CurlLine.call(method, path, EntrupyLines.backend, json: json))
        }
    }

    fileprivate static let token = "TOKEN=$(entrupy-sim users login)"
    static let session = CurlLine.call("GET", "/sdk/session", #"-H "Authorization: Token $TOKEN""#)
    static let health = CurlLine.call("GET", "/v1/health", backend, "-H 'Api-Version: 1.4'")
    /// A whole item, whose result comes after the usual delay.
    static let item = "entrupy-sim capture run --sku any-1"

    /// A registered fingerprint.
    static let registered = "$(entrupy-sim capture run --sku sim-registered-after-0s --activity fingerprint_register)"

    private static let anyItem =
        #"{"item": {"brand": "Nike", "item_type": "sneakers", "style_name": "Any", "customer_item_id": "any-1"}}"#
    private static let startCall = Call.call("POST", "/sdk/captures", json: anyItem).line
    /// Begins a capture, whose id is then `ID`.
    static let start = "\(token); \(CurlLine.set("ID", "capture_id", of: startCall))"

    /// Begins a capture and makes further requests about it.
    static func ofCapture(_ calls: Call...) -> String { ([start] + calls.map(\.line)).joined(separator: "; ") }

    /// Begins a capture, lets it time out, and makes a request about it.
    static func ofTimedOut(_ call: Call) -> String { "\(start); entrupy-sim clock advance 2h; \(call.line)" }

    /// Makes an item that has a result at once, whose id is then `ID`, and further requests about it.
    static func ofItem(_ result: ResultID = .unknown, _ calls: Call...) -> String {
        let made = "\(token); ID=$(entrupy-sim capture run --sku sim-\(result.rawValue)-after-0s)"
        return ([made] + calls.map(\.line)).joined(separator: "; ")
    }

    // MARK: Flags

    private static func flagCall(_ isSet: Bool) -> Call {
        .call(
            "PUT", "/sdk/results/$ID/flag",
            json: isSet ? #"{"flag": true, "flag_reason_id": "wrong_result"}"# : #"{"flag": false}"#)
    }

    /// Sets or clears the flag of the item `ID`.
    static func flag(_ isSet: Bool) -> String { flagCall(isSet).line }
    static let flagged = ofItem(.unknown, flagCall(true))
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
