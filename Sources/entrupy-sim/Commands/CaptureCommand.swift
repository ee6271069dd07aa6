import ArgumentParser
import EntrupyAPI
import Foundation
import SimulationAPI

struct CaptureCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "capture", abstract: "Capture items as an app would.",
        subcommands: [Run.command, RunComponents.command])

    /// A grey PNG of 48 by 48 pixels.
    fileprivate static let picture = ControlCall.Body.bytes(
        Data(
            base64Encoded: "iVBORw0KGgoAAAANSUhEUgAAADAAAAAwCAAAAAByaaZbAAAAJ0lEQVR42mP4TyJg"
                + "GKQaJhAJRjWMahjVMKphVMOohlEN9NcwxNsaAHZDQZuahtY3AAAAAElFTkSuQmCC")
            ?? Data(), type: "image/png")

    struct Run: ControlAction {
        static let abstract = "Make an item as an app would: log in, capture, upload pictures, submit. Prints its id."
        static let discussion = "These are requests of the platform: limits, faults and outcome rules apply to them."
        @Option(help: "The item's customer_item_id.") var sku: String
        @Option(help: "The brand.") var brand = "Nike"
        @Option(help: "The item type, for instance t-shirt. (default: sneakers)") var itemType: String?
        @Option(help: "The user's unique_user_id.") var user = "sim-test-user"
        @Option(help: "The workflow: production or debug. (default: production)") var configType: String?
        @Option(
            help: "The service: authentication, fingerprint_register or fingerprint_compare. (default: authentication)")
        var activity: String?
        @Option(help: "For fingerprint_compare, the id of the registered item. (default: none)")
        var fingerprintParent: String?
        @Flag(help: "Log in a second time with the same signed request, which the platform refuses.")
        var loginTwice = false

        private struct Capture: Decodable {
            struct Step: Decodable {
                let region_id: String
                let required: Bool
            }

            let capture_id: String
            let steps: [Step]
        }

        private struct Item: Decodable {
            let entrupy_id: String
        }

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            let login = AppLogin(user: user, sender: "entrupy-sim capture run")
            let token = try await login.session(client, isRepeated: loginTwice).token
            let headers = [("Authorization", "Token \(token)")]
            let item = JSONValue.members([
                ("customer_item_id", sku), ("brand", brand), ("item_type", itemType), ("style_name", "Any style"),
            ])
            let capture: Capture = try await client.post(
                "/sdk/captures", headers: headers,
                body: [
                    "item": item, "config_type": configType, "activity": activity,
                    "fingerprint_parent": fingerprintParent,
                ])
            for step in capture.steps where step.required {
                try await client.send(
                    ControlCall(
                        .PUT, "/sdk/captures/\(capture.capture_id)/images/\(step.region_id)", headers: headers,
                        body: picture))
            }
            let answer = try await client.send(
                ControlCall(.POST, "/sdk/captures/\(capture.capture_id)/submit", headers: headers))
            let submitted: Item = try answer.decoded()
            terminal.isJSON ? terminal.json(answer.bytes) : terminal.line(submitted.entrupy_id)
            if sku.isEmpty { terminal.note("note: the customer_item_id is empty") }
            try await noteUnknownName(submitted.entrupy_id, client, terminal)
        }

        /// Says that the item ends as not_supported where the catalogue lacks its brand or its type, which may be misspelt.
        private func noteUnknownName(_ id: String, _ client: ControlClient, _ terminal: Terminal) async throws {
            let item: AuthenticationInfo = try await client.get("/_sim/authentications/\(id)")
            let (option, given, names) =
                switch item.decided_by {
                case "unknown_brand": ("--brand", brand, try await client.choices("brands").map(\.name))
                case "unknown_item_type":
                    ("--item-type", itemType ?? "", try await client.choices("item_types").map(\.id))
                default: ("", "", [String]())
                }
            guard !option.isEmpty else { return }
            let near = NearestName.nearest(to: given, among: names).map { ", did you mean \($0)?" } ?? ""
            terminal.note(
                "note: \(option) \"\(given)\" is not in the catalogue, so the item ends as not_supported\(near)")
        }
    }

    struct RunComponents: ControlAction {
        static let name = "component"
        static let abstract =
            "Run components of App Components as an app would: code, session, pictures, end. Prints the session's id."
        static let discussion = """
            capture component document
            capture component document biometrics
            capture component document --document-number sim-PersonNotAdult

            These are requests of the platform: faults and outcome rules apply to them. An answer that is an error exits 1.
            """
        @Argument(help: "document, biometrics, or both in their order.") var components: [String]
        @Option(help: "The workflow, as the seed data names it.") var workflow = "onboarding"
        @Option(help: "The client's document number; a magic one decides how it ends. (default: the seed data's)")
        var documentNumber: String?

        func validate() throws {
            for component in components {
                try require(
                    ["document", "biometrics"].contains(component),
                    "COMPONENTS must be document, biometrics or both, got \"\(component)\"")
            }
        }

        private struct Session: Decodable {
            let session_id: String
        }

        private struct Begun: Decodable {
            struct Image: Decodable {
                let fileSide: String
                let isAngled: Bool
            }

            let images: [Image]
            let hasVideo: Bool?
        }

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            let person = documentNumber.map { JSONValue.members([("document_number", $0)]) }
            let code: JSONObject = try await client.post(
                "/components/v1/workflows/\(workflow)/validationcode",
                headers: [("Authorization", "Token \(try await client.requiredAPIToken())")], body: ["client": person])
            let session: Session = try await client.post(
                "/components/sessions",
                body: ["validationCode": code["validationCode"], "networkEnvironment": "sandbox"])
            for component in components { try await run(component, session.session_id, client) }
            terminal.isJSON
                ? try terminal.json(of: ["session_id": session.session_id]) : terminal.line(session.session_id)
        }

        private func run(_ component: String, _ session: String, _ client: ControlClient) async throws {
            let isDocument = component == "document"
            let chosen: ControlCall.Body = isDocument ? ["documentType": "passport", "issuingCountry": "NLD"] : [:]
            let wanted: Begun = try await client.post("/components/sessions/\(session)/\(component)", body: chosen)
            for image in wanted.images {
                let path: ControlPath =
                    isDocument
                    ? "/components/sessions/\(session)/document/images/\(image.fileSide)"
                    : "/components/sessions/\(session)/biometrics/selfie"
                let query = [("angled", isDocument ? "\(image.isAngled)" : nil)]
                for _ in 1...Self.maxTries {
                    let answer: JSONObject = try await client.send(ControlCall(.PUT, path, query, body: picture))
                        .decoded()
                    if [nil, "ok"].contains(answer["quality"]?.text) { break }
                }
            }
            if wanted.hasVideo != nil {
                let path: ControlPath =
                    isDocument
                    ? "/components/sessions/\(session)/document/video"
                    : "/components/sessions/\(session)/biometrics/liveness"
                try await client.send(ControlCall(.PUT, path, body: .bytes(Self.video, type: "video/mp4")))
            }
            try await client.send(ControlCall(.POST, "/components/sessions/\(session)/\(component)/finish"))
        }

        /// The number of times that a picture of bad quality is taken.
        private static let maxTries = 3

        /// A video of 4.2 seconds without pictures: a file's beginning, and the header that says how long it is.
        private static let video: Data = {
            func number(_ value: UInt32) -> Data { withUnsafeBytes(of: value.bigEndian) { Data($0) } }
            func box(_ name: String, _ content: Data) -> Data {
                number(UInt32(8 + content.count)) + Data(name.utf8) + content
            }
            let header = [0, 0, 0, 1000, 4200].map(number).reduce(Data(), +) + Data(count: 80)
            return box("ftyp", Data("isom\0\0\0\0isom".utf8)) + box("moov", box("mvhd", header))
        }()
    }
}
