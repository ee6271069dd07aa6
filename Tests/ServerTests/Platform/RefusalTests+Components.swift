import Foundation
import SimulationAPI
import TestSupport
import Testing

// Each function tries the refusals of some routes of App Components, and returns them.

extension RefusalTests {
    func componentSessions() async throws -> Set<String> {
        var tried = Refusals(world: try await world())
        let world = tried.world
        let code = "/components/v1/workflows/onboarding/validationcode"
        try await tried.refuse(
            404, "POST", "/components/v1/workflows/none/validationcode", [:], token: TestWorld.apiToken,
            saying: "the workflows of the seed data are")
        let early = try await world.validationCode(client: ["client_id": "bad"])
        let rejected = try await world.workflowSession(client: [
            "client_id": "bad", "document_number": "sim-ClientRejected",
        ])
        try #require(try await world.runDocument(rejected).status == 403)
        try await tried.refuse(
            403, "POST", code, ["client": ["client_id": "bad"]], token: TestWorld.apiToken,
            saying: "DemoOrg's client bad was rejected at 2026-01-05T09:00:00")
        let start: JSONObject = ["networkEnvironment": "sandbox"]
        try await tried.refuse(
            403, "POST", "/components/sessions",
            .object(start.merging(["validationCode": early["validationCode"]]) { $1 }),
            saying: "the client bad was rejected at")
        let rule = try await world.send(
            "POST", "/_sim/outcomes", ["match": ["component": "session"], "result": "ConfigurationNotSupported"])
        let fresh = try await world.validationCode()
        try await tried.refuse(
            409, "POST", "/components/sessions",
            .object(start.merging(["validationCode": fresh["validationCode"]]) { $1 }),
            saying: "the outcome rule \(rule["id"].text ?? "?") decided ConfigurationNotSupported")
        return tried.met
    }

    func components() async throws -> Set<String> {
        var tried = Refusals(world: try await world())
        let world = tried.world
        let document: JSONValue = ["documentType": "passport", "issuingCountry": "NLD"]
        for (component, body) in [("document", document), ("biometrics", [:])] {
            let session = try await world.workflowSession()
            let path = "/components/sessions/\(session)/\(component)"
            try await tried.refuse(
                409, "POST", "\(path)/finish", saying: "the session \(session) has no \(component) component")
            let begun = try await world.send("POST", path, body)
            try #require(begun.status == 201, "\(begun.json)")
            try await tried.refuse(
                409, "POST", path, body, saying: "the \(component) component of \(session) was started at 2026-01-05")
            try await tried.refuse(
                409, "POST", "\(path)/cancel", saying: "the client closed the \(component) component")
            try await tried.refuse(
                409, "POST", "\(path)/finish", saying: "the \(component) component of \(session) ended at 2026-01-05")
            _ = try await world.send(
                "POST", "/_sim/outcomes",
                ["match": ["component": .string(component)], "result": "ClientRejected", "times": 1])
            let again = try await world.workflowSession(
                client: ["client_id": .string("client-\(component)")])
            let ended =
                component == "document" ? try await world.runDocument(again) : try await world.runBiometrics(again)
            try #require(ended.status == 403, "\(ended.json)")
            let entry = try await world.send("GET", "/_sim/requests?route=**/\(component)/finish&status=403")
            #expect(
                entry["requests.0.because"].text?.contains("decided ClientRejected") == true, "\(entry["requests.0"])")
            tried.met.insert("POST /components/sessions/{id}/\(component)/finish 403")
        }
        return tried.met
    }

    func componentFiles() async throws -> Set<String> {
        var tried = Refusals(world: try await world())
        let session = try await tried.world.workflowSession()
        let files = [
            ("document/images/front", "image/jpeg"), ("document/video", "video/mp4"),
            ("biometrics/selfie", "image/jpeg"), ("biometrics/images/selfie", "image/jpeg"),
            ("biometrics/liveness", "video/mp4"),
        ]
        for (file, type) in files {
            let (component, path) = (file.prefix { $0 != "/" }, "/components/sessions/\(session)/\(file)")
            try await tried.refuse(404, "GET", path, saying: "the \(component) component of \(session) has no files")
            try await tried.refuse(
                409, "PUT", path, bytes: type == "video/mp4" ? TestWorld.video : TestWorld.picture,
                headers: ["Content-Type": type], saying: "the session \(session) has no \(component) component")
        }
        return tried.met
    }
}
