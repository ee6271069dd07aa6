import Simulation

/// Parts of the commands that meet the edges of App Components. They are for a shell with the environment of `entrupy-sim run`.
enum ComponentLines {
    /// The axis of the documented errors.
    static let errors = "components"

    /// The documented edges, beside the answers of the routes [D coverage].
    static var axes: [DocumentedAxis] {
        [
            DocumentedAxis(
                errors, "Errors of App Components",
                WorkflowFailure.allCases.map { DocumentedEdge($0.rawValue, meetWith: error($0)) })
        ]
    }

    /// Commands that verify the shipped scenarios after what their clients do.
    static var scenarios: [String: String] {
        Dictionary(uniqueKeysWithValues: ComponentScenarios.all.keys.map { ($0, scenario($0)) })
    }

    static let backend = #"-H "Authorization: Token $ENTRUPY_SIM_API_TOKEN""#

    /// A command that meets a documented error.
    static func error(_ failure: WorkflowFailure) -> String {
        "entrupy-sim capture component document --document-number sim-\(failure.rawValue)"
    }

    /// A command that plays the client of a shipped scenario.
    static func scenario(_ name: String) -> String {
        let client =
            switch name {
            case "component-verified": "capture component document biometrics"
            case "component-blurry-picture": "capture component document --workflow document-only"
            // The second one asks for another validation code.
            case "component-client-rejected": "capture component document; entrupy-sim capture component document"
            default: "capture component document"
            }
        return "entrupy-sim scenario start \(name); entrupy-sim \(client); entrupy-sim scenario verify \(name)"
    }

    // MARK: Answers

    private static let mock = CurlLine.call(
        "POST", "/components/sessions", json: #"{"validationCode": "IDV", "networkEnvironment": "mock"}"#)
    /// Begins a session, whose id is then `ID`.
    private static let session = CurlLine.set("ID", "session_id", of: mock)
    private static let passport = #"{"documentType": "passport", "issuingCountry": "NLD"}"#

    private static func call(_ method: String, _ rest: String, _ options: String = "", json: String? = nil) -> String {
        CurlLine.call(method, "/components/sessions/$ID\(rest)", options, json: json)
    }

    private static let document = call("POST", "/document", json: passport)
    private static let biometrics = call("POST", "/biometrics", json: "{}")

    /// Answers of the Biometrics Component that only a fault gives: its own errors are not about documents.
    static let faultOnly = [
        "POST /components/sessions/{id}/biometrics 422", "POST /components/sessions/{id}/biometrics/finish 422",
    ]
    private static let files = [
        "document/images/{side}", "document/video", "biometrics/selfie", "biometrics/images/selfie",
        "biometrics/liveness",
    ]
    /// The routes below a session.
    private static let ofSession: [(method: String, rest: String)] =
        [("GET", ""), ("DELETE", "")]
        + ["", "/cancel", "/finish"].flatMap { [("POST", "/document\($0)"), ("POST", "/biometrics\($0)")] }
        + files.flatMap { [("PUT", "/\($0)"), ("GET", "/\($0)")] }

    /// A PNG of 48 by 48 pixels, and an MP4 of 4.2 seconds, for `base64 -d`.
    private static let picture =
        "iVBORw0KGgoAAAANSUhEUgAAADAAAAAwCAAAAAByaaZbAAAAJ0lEQVR42mP4TyJgGKQaJhAJRjWMahjVMKphVMOohlEN9NcwxNsaAHZDQZuahtY3AAAAAElFTkSuQmCC"
    private static let video =
        "AAAAFGZ0eXBpc29tAAAAAGlzb20AAAB0bW9vdgAAAGxtdmhkAAAAAAAAAAAAAAAAAAAD6AAAEGgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=="

    /// The answers of the routes of a file.
    private static func addFile(_ file: String, _ add: (String, Int, String...) -> Void) {
        let isVideo = file.hasSuffix("video") || file.hasSuffix("liveness")
        let type = isVideo ? "-H 'Content-Type: video/mp4'" : "-H 'Content-Type: image/png'"
        let place = "/" + file.replacing("{side}", with: "front")
        let start = file.hasPrefix("document") ? document : biometrics
        let upload = "echo \(isVideo ? video : picture) | base64 -d | \(call("PUT", place, "\(type) --data-binary @-"))"
        let (put, get) = ("PUT /components/sessions/{id}/\(file)", "GET /components/sessions/{id}/\(file)")
        add(put, 200, session, start, upload)
        add(put, 409, session, upload)
        add(put, 408, session, start, "sleep 40 | \(call("PUT", place, "\(type) -T -"))")
        let large = isVideo ? 210_000_000 : 21_000_000
        add(put, 413, session, start, "head -c \(large) /dev/zero | \(call("PUT", place, "\(type) -T -"))")
        add(put, 415, session, start, call("PUT", place, "\(type) -H 'Content-Encoding: br' -d text"))
        add(put, 422, session, start, call("PUT", place, "\(type) -d text"))
        add(get, 200, session, start, upload, call("GET", place))
        add(get, 206, session, start, upload, call("GET", place, "-r 0-9"))
        add(get, 416, session, start, upload, call("GET", place, "-r 9999999999-"))
    }

    /// The answers to a client that was rejected, and to its later requests.
    private static func addRejections(_ add: (String, Int, String...) -> Void) {
        let rejected = error(.clientRejected)
        let code = CurlLine.call("POST", "/components/v1/workflows/onboarding/validationcode", backend, json: "{}")
        let session =
            #"curl -s -H 'Content-Type: application/json' -d "{\"validationCode\": \"$CODE\", \"networkEnvironment\": \"sandbox\"}" "$ENTRUPY_SIM_URL/components/sessions""#
        add("POST /components/v1/workflows/{workflowId}/validationcode", 403, rejected, code)
        add("POST /components/sessions", 403, CurlLine.set("CODE", "validationCode", of: code), rejected, session)
        add("POST /components/sessions/{id}/document/finish", 403, rejected)
        add(
            "POST /components/sessions/{id}/biometrics/finish", 403,
            rejected.replacing("document ", with: "biometrics --workflow selfie-only "))
    }

    /// The routes of a session beside those of a file.
    static let answers: [String: String] = {
        var lines: [String: String] = [:]
        func add(_ route: String, _ status: Int, _ commands: String...) {
            lines["\(route) \(status)"] = commands.joined(separator: "; ")
        }
        for (component, start) in [("document", document), ("biometrics", biometrics)] {
            let path = "/components/sessions/{id}/\(component)"
            let whole = "ID=$(entrupy-sim capture component \(component))"
            add("POST \(path)", 201, session, start)
            add("POST \(path)", 409, session, start, start)
            add("POST \(path)/cancel", 409, session, start, call("POST", "/\(component)/cancel"))
            add("POST \(path)/finish", 200, whole)
            add("POST \(path)/finish", 409, whole, call("POST", "/\(component)/finish"))
        }
        add("POST /components/sessions", 201, mock)
        add(
            "POST /components/sessions", 401,
            CurlLine.call(
                "POST", "/components/sessions", json: #"{"validationCode": "x", "networkEnvironment": "sandbox"}"#))
        add("POST /components/sessions", 409, error(.configurationNotSupported))
        addRejections(add)
        add("POST /components/sessions/{id}/document", 401, "ID=any-1", document)
        add("POST /components/sessions/{id}/document", 422, error(.documentTypeNotSupported))
        add("POST /components/sessions/{id}/document/finish", 422, error(.personNotAdult))
        for route in faultOnly {
            let path = String(route.dropFirst("POST ".count).prefix { $0 != " " })
            let effect = #"--effect '{"component_error": "PersonNotAdult"}'"#
            let fault = "entrupy-sim fault add --route '\(path.replacing("{id}", with: "*"))' \(effect) --times 1"
            lines[route] = "\(fault); \(CurlLine.call("POST", path.replacing("{id}", with: "any-1")))"
        }
        add(
            "POST /components/v1/workflows/{workflowId}/validationcode", 200,
            CurlLine.call("POST", "/components/v1/workflows/onboarding/validationcode", backend, json: "{}"))
        add("GET /components/sessions/{id}", 200, session, call("GET", ""))
        for (method, rest) in ofSession {
            let route = "\(method) /components/sessions/{id}\(rest)"
            let path = "/components/sessions/any-1\(rest.replacing("{side}", with: "front"))"
            // An unknown session is 401.
            add(route, 404, CurlLine.inNoNamespace(CurlLine.call(method, path)))
            if !["/document", "/biometrics"].contains(rest) {
                add(route, 400, CurlLine.call(method, "\(path)?form=nonsense"))
            }
        }
        for file in files { addFile(file, add) }
        add("DELETE /components/sessions/{id}", 200, session, call("DELETE", ""))
        return lines
    }()
}
