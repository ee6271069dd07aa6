import EntrupyAPI
import Simulation

extension EntrupyLines {
    /// Commands that meet the answers which do not follow from their status alone.
    static var answers: [String: String] {
        [authorizations, logins, captureRoutes, resultRoutes, itemRoutes, subscriptionRoutes, others]
            .reduce(into: [:]) { $0.merge($1) { first, _ in first } }
    }

    private static let version = "-H 'Api-Version: 1.4'"

    // MARK: Authorizations and logins

    static func authorize(_ version: String, _ email: String, _ user: String = "met-user-1") -> String {
        CurlLine.call(
            "POST", "/\(version)/integrations/authorize-user", backend, version == "v1" ? Self.version : "",
            json: #"{"sdk_authorization_request": "met", "unique_user_id": "\#(user)", "email": "\#(email)"}"#)
    }

    /// Has a user's request signed, which is then `SIGNED`.
    static func signed(_ email: String, _ user: String = "met-user-1") -> String {
        CurlLine.set("SIGNED", "signed_authorization_request", of: authorize("v2", email, user))
    }

    private static func partnerLogin(_ password: String) -> String {
        CurlLine.call("POST", "/partner/login", json: #"{"username": "demo", "password": "\#(password)"}"#)
    }

    private static let partnerAuthorization = CurlLine.call(
        "POST", "/partner/authorize-entrupy-sdk-user", partner, json: #"{"sdk_authorization_request": "met"}"#)

    static let authorizations: [String: String] = {
        var lines: [String: String] = [:]
        for version in ["v1", "v2"] {
            let route = "POST /\(version)/integrations/authorize-user"
            lines["\(route) 200"] = authorize(version, "met@example.com")
            lines["\(route) 409"] =
                "\(authorize(version, "met@example.com")); \(authorize(version, "other@example.com"))"
        }
        let route = "POST /partner/authorize-entrupy-sdk-user"
        lines["POST /partner/login 200"] = partnerLogin("demo")
        lines["POST /partner/login 401"] = partnerLogin("wrong")
        lines["\(route) 200"] = partnerAuthorization
        // Another back end has set another email first.
        lines["\(route) 409"] = "\(authorize("v2", "met@example.com", "demo-user")); \(partnerAuthorization)"
        // The user belongs to an organization without an API token.
        let seed =
            #"{"organizations": [{"name": "MetOrg", "api_tokens": [], "partner_users": [{"username": "met", "password": "met", "unique_user_id": "met-partner", "email": "partner@example.com"}]}]}"#
        let call = partnerAuthorization.replacing(#""demo", "password": "demo""#, with: #""met", "password": "met""#)
        lines["\(route) 403"] = "echo '\(seed)' | entrupy-sim seed load -; \(call)"
        lines["\(route) 429"] = limited("api_per_second", partnerAuthorization)
        return lines
    }()

    static let logins: [String: String] = {
        var lines: [String: String] = [:]
        for route in ["/sdk/login", "/login"] {
            let signed = signed("met@example.com")
            let login =
                #"curl -s -d "{\"signed_authorization_request\": \"$SIGNED\"}" -H 'Content-Type: application/json' "$ENTRUPY_SIM_URL\#(route)""#
            lines["POST \(route) 200"] = "\(signed); \(login)"
            lines["POST \(route) 403"] = "\(signed); \(login); \(login)"
            lines["POST \(route) 401"] = "\(signed); entrupy-sim clock advance 2h; \(login)"
            lines["POST \(route) 429"] =
                "entrupy-sim settings set rate_limits.logins_per_minute 1; for i in 1 2; do \(signed); \(login); done"
        }
        return lines
    }()

    // MARK: Captures

    /// A PNG of 48 by 48 pixels, for `base64 -d`.
    private static let picture =
        "iVBORw0KGgoAAAANSUhEUgAAADAAAAAwCAAAAAByaaZbAAAAJ0lEQVR42mP4TyJgGKQaJhAJRjWMahjVMKphVMOohlEN9NcwxNsaAHZDQZuahtY3AAAAAElFTkSuQmCC"

    static func upload(_ region: String) -> String {
        let call = call("PUT", "/sdk/captures/$ID/images/\(region)", "-H 'Content-Type: image/png' --data-binary @-")
        return "echo \(picture) | base64 -d | \(call)"
    }

    static let captureRoutes: [String: String] = {
        let submit = call("POST", "/sdk/captures/$ID/submit")
        let cancel = call("POST", "/sdk/captures/$ID/cancel")
        let image = "PUT /sdk/captures/{id}/images/{region_id}"
        func put(_ options: String) -> String { call("PUT", "/sdk/captures/$ID/images/heel", options) }
        let text = put("-H 'Content-Type: image/png' -d text")
        let large = "head -c 21000000 /dev/zero | \(put("-H 'Content-Type: image/png' --data-binary @-"))"
        let slow = "sleep 40 | \(put("-H 'Content-Type: image/png' -T -"))"
        // A fingerprint that is not registered yet.
        let pending = "$(entrupy-sim capture run --sku sim-registered-after-1h --activity fingerprint_register)"
        return [
            "POST /sdk/captures 201": start,
            "POST /sdk/captures 409":
                "entrupy-sim capture run --sku any-1 --activity fingerprint_compare --fingerprint-parent \(pending)",
            "GET /sdk/captures 400": "\(token); \(call("GET", "/sdk/captures?limit=0"))",
            "\(image) 400": ofCapture(put("-H 'Content-Digest: nonsense' -d text")),
            "\(image) 408": ofCapture(slow),
            "\(image) 413": ofCapture(large),
            "\(image) 415": ofCapture(put("-H 'Content-Encoding: br' -d text")),
            "GET /sdk/captures/{id} 200": ofCapture(call("GET", "/sdk/captures/$ID")),
            "\(image) 200": item,
            "\(image) 409": ofCapture(cancel, upload("heel")),
            "\(image) 410": ofTimedOut(upload("heel")),
            "\(image) 422": ofCapture(text),
            "POST /sdk/captures/{id}/submit 200": item,
            "POST /sdk/captures/{id}/submit 400": ofCapture(submit),
            "POST /sdk/captures/{id}/submit 409": ofCapture(cancel, submit),
            "POST /sdk/captures/{id}/submit 410": ofTimedOut(submit),
            "POST /sdk/captures/{id}/cancel 200": ofCapture(cancel),
            "POST /sdk/captures/{id}/cancel 409": ofCapture(cancel, cancel),
            "POST /sdk/captures/{id}/cancel 410": ofTimedOut(cancel),
        ]
    }()

    // MARK: Results, as an app sees them

    /// Asks a question about the item `ID`.
    private static let question = "entrupy-sim items message $ID 'Which colour?'"

    static let resultRoutes: [String: String] = {
        func get(_ rest: String) -> String { call("GET", "/sdk/results/$ID\(rest)") }
        let answer = call("POST", "/sdk/results/$ID/support-messages", json: #"{"message": "Red"}"#)
        let asked = "entrupy-sim items retake $ID"
        let retake = call("POST", "/sdk/results/$ID/retake")
        let path = "/sdk/results/{entrupy_id}"
        return [
            "GET \(path) 200": ofItem(.unknown, get("")),
            "GET \(path)/market-edge 200": ofItem(.authentic, get("/market-edge")),
            "GET \(path)/market-edge 409": ofItem(.needsReview, get("/market-edge")),
            "GET \(path)/flag 200": ofItem(.unknown, get("/flag")),
            "PUT \(path)/flag 200": ofItem(.unknown, flag(true)),
            "PUT \(path)/flag 409": ofItem(.unknown, flag(true), flag(true)),
            "POST \(path)/retake 201": ofItem(.needsReview, asked, retake),
            "POST \(path)/retake 409": ofItem(.unknown, retake),
            "GET \(path)/support-messages 200": ofItem(.unknown, get("/support-messages")),
            "POST \(path)/support-messages 201": ofItem(.unknown, question, answer),
            "POST \(path)/support-messages 409": ofItem(.unknown, answer),
            "POST \(path)/support-messages 404": "ID=any-1; \(token); \(answer)",
            "PUT \(path)/flag 404": "ID=any-1; \(token); \(flag(false))",
        ]
    }()

    // MARK: Items, as a back end sees them

    /// A request that is wrong in its version, or in its query.
    private static func wrong(_ version: String, _ method: String, _ path: String) -> String {
        version == "v1"
            ? CurlLine.call(method, "/v1/\(path)", backend)
            : CurlLine.call(method, "/v2/\(path)?include_images=perhaps", backend)
    }

    static let itemRoutes: [String: String] = {
        var lines: [String: String] = [:]
        for (version, header) in [("v1", version), ("v2", "")] {
            func get(_ path: String) -> String { CurlLine.call("GET", "/\(version)/\(path)", backend, header) }
            lines["GET /\(version)/authentications/{entrupy_id} 200"] = ofItem(.unknown, get("authentications/$ID"))
            let found = get("lookup/authentications/sim-unknown-after-0s")
            lines["GET /\(version)/lookup/authentications/{lookup_value} 200"] = ofItem(.unknown, found)
            lines["GET /\(version)/authentications/{entrupy_id} 400"] = wrong(version, "GET", "authentications/any-1")
            lines["GET /\(version)/lookup/authentications/{lookup_value} 400"] = wrong(
                version, "GET", "lookup/authentications/any-1")
        }
        let path = "/v2/authentications/{entrupy_id}"
        func post(_ rest: String, _ json: String) -> String {
            CurlLine.call("POST", "/v2/authentications/$ID/\(rest)", backend, json: json)
        }
        func get(_ rest: String) -> String { CurlLine.call("GET", "/v2/authentications/$ID/\(rest)", backend) }
        let flag = post("flag", #"{"reason": "The stitching looks wrong"}"#)
        let unflag = CurlLine.call("DELETE", "/v2/authentications/$ID/flag", backend)
        let message = post("support-messages", #"{"message": "Red"}"#)
        let transfer = post("certificate/transfers", #"{"to": {"email": "buyer@example.com", "name": "Grace Hopper"}}"#)
        lines["POST \(path)/flag 200"] = ofItem(.unknown, flag)
        lines["POST \(path)/flag 409"] = ofItem(.unknown, flag, flag)
        lines["DELETE \(path)/flag 200"] = ofItem(.unknown, flag, unflag)
        lines["DELETE \(path)/flag 409"] = ofItem(.unknown, unflag)
        lines["DELETE \(path)/flag 400"] = ofItem(.invalid, unflag)
        lines["POST \(path)/flag 404"] = "ID=any-1; \(flag)"
        lines["POST \(path)/support-messages 404"] = "ID=any-1; \(message)"
        lines["POST \(path)/certificate/transfers 404"] = "ID=any-1; \(transfer)"
        lines["GET \(path)/support-messages 200"] = ofItem(.unknown, get("support-messages"))
        lines["POST \(path)/support-messages 201"] = ofItem(.unknown, question, message)
        lines["POST \(path)/support-messages 409"] = ofItem(.unknown, message)
        lines["GET \(path)/certificate/transfers 200"] = ofItem(.authentic, get("certificate/transfers"))
        lines["POST \(path)/certificate/transfers 201"] = ofItem(.authentic, transfer)
        lines["POST \(path)/certificate/transfers 409"] = ofItem(.unknown, transfer)
        return lines
    }()

    // MARK: Subscriptions

    static let subscriptionRoutes: [String: String] = {
        var lines: [String: String] = [:]
        let body = #"{"url": "http://127.0.0.1:9/met", "secret_key": "met", "events": ["session.completed"]}"#
        for (version, header) in [("v1", version), ("v2", "")] {
            func call(_ method: String, _ rest: String, json: String? = nil) -> String {
                CurlLine.call(method, "/\(version)/webhooks\(rest)", backend, header, json: json)
            }
            let made = CurlLine.set("ID", "id", of: call("POST", "", json: body))
            let path = "/\(version)/webhooks"
            lines["POST \(path) 201"] = made
            lines["GET \(path)/{id} 200"] = "\(made); \(call("GET", "/$ID"))"
            lines["PATCH \(path)/{id} 200"] = "\(made); \(call("PATCH", "/$ID", json: body))"
            lines["DELETE \(path)/{id} 204"] = "\(made); \(call("DELETE", "/$ID"))"
            lines["PATCH \(path)/{id} 404"] = call("PATCH", "/unknown-1", json: body)
            if version == "v1" {
                lines["GET \(path) 400"] = wrong(version, "GET", "webhooks")
                lines["GET \(path)/{id} 400"] = wrong(version, "GET", "webhooks/unknown-1")
                lines["DELETE \(path)/{id} 400"] = wrong(version, "DELETE", "webhooks/unknown-1")
                lines["POST \(path)/{id}/verify 400"] = wrong(version, "POST", "webhooks/unknown-1/verify")
            }
            lines["POST \(path)/{id}/verify 200"] = "\(made); \(call("POST", "/$ID/verify"))"
        }
        return lines
    }()

    // MARK: Others

    static let others: [String: String] = {
        let config = call("GET", "/sdk/config", #"-H "If-None-Match: $TAG""#)
        let tag =
            #"TAG=$(curl -sD - -o /dev/null -H "Authorization: Token $TOKEN" "$ENTRUPY_SIM_URL/sdk/config" | sed -n 's/^[Ee][Tt]ag: *//p' | tr -d '\r')"#
        return [
            "GET /sdk/config 304": "TOKEN=$(entrupy-sim users login); \(tag); \(config)",
            "GET /sdk/config 400": "\(token); \(call("GET", "/sdk/config?config_type=nonsense"))",
            "GET /v1/health 400": CurlLine.call("GET", "/v1/health", backend),
            "GET /certificates/{certificate_id} 400": CurlLine.call("GET", "/certificates/any-1?format=nonsense"),
            "GET /certificates/{certificate_id} 200": ofItem(.authentic, CurlLine.call("GET", "/certificates/$ID")),
        ].merging(pictures) { first, _ in first }
    }()

    /// The answers of the routes of a picture, which is uploaded before.
    private static var pictures: [String: String] {
        let picture = "\(start); \(CurlLine.set("SHA", "sha256", of: upload("heel")))"
        var lines: [String: String] = [:]
        for size in ["original", "scale_micro"] {
            for (status, options) in [(200, ""), (206, "-r 0-9"), (416, "-r 9999999999-")] {
                lines["GET /images/{sha256}/\(size) \(status)"] =
                    "\(picture); \(CurlLine.call("GET", "/images/$SHA/\(size)", options))"
            }
        }
        return lines
    }
}
