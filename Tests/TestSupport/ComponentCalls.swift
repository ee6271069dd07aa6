import Foundation
import SimulationAPI
import Testing

/// The document's name of an answer's error; `nil` if the answer has none.
package func workflowError(_ answer: TestWorld.Answer) -> String? {
    answer["workflow_error.code"].text ?? answer["workflow_error.type"].text
}

extension TestWorld {
    /// A video of 4.2 seconds without pictures: the boxes that the server reads.
    package static var video: Data { video(milliseconds: 4200) }

    /// A video without pictures: the boxes that the server reads.
    package static func video(milliseconds: UInt32) -> Data {
        func number(_ value: UInt32) -> Data { withUnsafeBytes(of: value.bigEndian) { Data($0) } }
        func box(_ name: String, _ content: Data) -> Data {
            number(UInt32(8 + content.count)) + Data(name.utf8) + content
        }
        let header = [0, 0, 0, 1000, milliseconds].map(number).reduce(Data(), +) + Data(count: 80)
        return box("ftyp", Data("isom\0\0\0\0isom".utf8)) + box("moov", box("mvhd", header))
            + box("mdat", Data(repeating: 7, count: 20))
    }

    /// Creates a validation code.
    package func validationCode(_ workflow: String = "onboarding", client: JSONValue? = nil) async throws
        -> TestWorld.Answer
    {
        var body: JSONObject = [:]
        body["client"] = client
        return try await send(
            "POST", "/components/v1/workflows/\(workflow)/validationcode", .object(body), token: Self.apiToken)
    }

    /// Starts a session with a new code of a workflow.
    package func workflowSession(_ workflow: String = "onboarding", client: JSONValue? = nil) async throws -> String {
        let code = try await validationCode(workflow, client: client)
        let session = try await send(
            "POST", "/components/sessions",
            ["validationCode": code["validationCode"], "networkEnvironment": "sandbox"])
        try #require(session.status == 201, "\(session.json)")
        return try #require(session["session_id"].text)
    }

    /// Starts a session of the mock environment.
    package func mockSession() async throws -> String {
        let session = try await send(
            "POST", "/components/sessions", ["validationCode": "IDV", "networkEnvironment": "mock"])
        return try #require(session["session_id"].text)
    }

    /// Starts the Document Component, uploads what it wants and ends it.
    package func runDocument(_ session: String, _ type: String = "passport", _ country: String? = "NLD") async throws
        -> TestWorld.Answer
    {
        var body: JSONObject = ["documentType": .string(type)]
        body["issuingCountry"] = country.map { .string($0) }
        let started = try await send("POST", "/components/sessions/\(session)/document", .object(body))
        guard started.status == 201 else { return started }
        try await uploadAll(started.json, session)
        return try await send("POST", "/components/sessions/\(session)/document/finish")
    }

    /// Starts the Biometrics Component, uploads what it wants and ends it.
    package func runBiometrics(_ session: String) async throws -> TestWorld.Answer {
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
    package func put(_ path: String, _ session: String, _ bytes: Data = picture) async throws -> TestWorld.Answer {
        try await send(
            "PUT", "/components/sessions/\(session)/\(path)", bytes: bytes,
            headers: ["Content-Type": bytes == Self.video ? "video/mp4" : "image/jpeg"])
    }
}
