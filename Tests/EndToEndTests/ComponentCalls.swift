import Foundation
import SimulationAPI
import TestSupport
import Testing

/// The document's name of an answer's error; `nil` if the answer has none.
func workflowError(_ answer: Answer) -> String? {
    answer["workflow_error.code"].text ?? answer["workflow_error.type"].text
}

extension TestWorld {
    /// A video of 4.2 seconds without pictures: the boxes that the server reads.
    static let video = video(milliseconds: 4200)

    /// A video without pictures: the boxes that the server reads.
    static func video(milliseconds: UInt32) -> Data {
        func number(_ value: UInt32) -> Data { withUnsafeBytes(of: value.bigEndian) { Data($0) } }
        func box(_ name: String, _ content: Data) -> Data {
            number(UInt32(8 + content.count)) + Data(name.utf8) + content
        }
        let header = [0, 0, 0, 1000, milliseconds].map(number).reduce(Data(), +) + Data(count: 80)
        return box("ftyp", Data("isom\0\0\0\0isom".utf8)) + box("moov", box("mvhd", header))
            + box("mdat", Data(repeating: 7, count: 20))
    }

    /// Creates a validation code.
    func validationCode(_ workflow: String = "onboarding", client: JSONValue? = nil) async throws -> Answer {
        var body: JSONObject = [:]
        body["client"] = client
        return try await send(
            "POST", "/components/v1/workflows/\(workflow)/validationcode", .object(body), token: Self.apiToken)
    }

    /// Starts a session with a new code of a workflow.
    func workflowSession(_ workflow: String = "onboarding", client: JSONValue? = nil) async throws -> String {
        let code = try await validationCode(workflow, client: client)
        let session = try await send(
            "POST", "/components/sessions",
            ["validationCode": code["validationCode"], "networkEnvironment": "sandbox"])
        try #require(session.status == 201, "\(session.json)")
        return try #require(session["session_id"].text)
    }

    /// Starts a session of the mock environment.
    func mockSession() async throws -> String {
        let session = try await send(
            "POST", "/components/sessions", ["validationCode": "IDV", "networkEnvironment": "mock"])
        return try #require(session["session_id"].text)
    }

    /// Starts the Document Component, uploads what it wants and ends it.
    func runDocument(_ session: String, _ type: String = "passport", _ country: String? = "NLD") async throws -> Answer
    {
        var body: JSONObject = ["documentType": .string(type)]
        body["issuingCountry"] = country.map { .string($0) }
        let started = try await send("POST", "/components/sessions/\(session)/document", .object(body))
        guard started.status == 201 else { return started }
        try await uploadAll(started.json, session)
        return try await send("POST", "/components/sessions/\(session)/document/finish")
    }

    /// Starts the Biometrics Component, uploads what it wants and ends it.
    func runBiometrics(_ session: String) async throws -> Answer {
        let started = try await send("POST", "/components/sessions/\(session)/biometrics")
        guard started.status == 201 else { return started }
        try await uploadAll(started.json, session)
        return try await send("POST", "/components/sessions/\(session)/biometrics/finish")
    }

    /// Uploads what a started component wants; each picture until its quality is ok.
    private func uploadAll(_ state: JSONValue, _ session: String) async throws {
        let isDocument = state["component"] == "document"
        for image in state["images"].items {
            let isAngled = image["isAngled"] == true
            let path =
                isDocument
                ? "document/images/\(image["fileSide"].text ?? "")?angled=\(isAngled)" : "biometrics/selfie"
            for _ in 1...3 {
                let answer = try await put(path, session)
                try #require(answer.status == 200, "\(answer.json)")
                if [.null, "ok"].contains(answer["quality"]) { break }
            }
        }
        if state["hasVideo"] != .null {
            let answer = try await put(isDocument ? "document/video" : "biometrics/liveness", session, Self.video)
            try #require(answer.status == 200, "\(answer.json)")
        }
    }

    /// Uploads a file of a component.
    func put(_ path: String, _ session: String, _ bytes: Data = picture) async throws -> Answer {
        try await send(
            "PUT", "/components/sessions/\(session)/\(path)", bytes: bytes,
            headers: ["Content-Type": bytes == Self.video ? "video/mp4" : "image/jpeg"])
    }
}

extension Player {
    /// A client of App Components that runs the document of a workflow.
    private static func document(
        _ workflow: String = "onboarding", then next: @escaping @Sendable (TestWorld) async throws -> Void = { _ in }
    ) -> Script {
        { player, isWrong in
            let session = try await player.world.workflowSession(workflow)
            if isWrong { return }
            _ = try await player.world.runDocument(session)
            try await next(player.world)
        }
    }

    /// A client that starts a session with a new code.
    private static let session: Script = { player, isWrong in
        let code = try await player.world.validationCode()
        if isWrong { return }
        _ = try await player.world.send(
            "POST", "/components/sessions",
            ["validationCode": code["validationCode"], "networkEnvironment": "sandbox"])
    }

    static let ofComponents: [String: Script] = [
        "component-verified": { player, isWrong in
            let session = try await player.world.workflowSession()
            _ = try await player.world.runDocument(session)
            if !isWrong { _ = try await player.world.runBiometrics(session) }
        },
        "component-client-rejected": document { _ = try await $0.validationCode() },
        "component-blurry-picture": document("document-only"),
        "component-canceled": document(), "component-document-expired": document(),
        "component-document-type-invalid": document(), "component-document-type-mismatch": document(),
        "component-nationality-not-supported": document(), "component-no-document-detected": document(),
        "component-person-not-adult": document(), "component-unexpected": document(),
        "component-document-type-not-supported": document(), "component-issuing-country-not-supported": document(),
        "component-invalid-workflow-status": document(),
        "component-invalid-validation-code": session, "component-session-expired": session,
        "component-configuration-not-supported": session,
    ]
}
