import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Sessions of App Components on disk.
@Suite struct ComponentCrashTests {
    @Test func everyAcknowledgedWriteSurvivesAKill() async throws {
        try await Process.withDirectory { directory in
            var server = try await SimProcess(["--data-dir", directory])
            var world = try await TestWorld.make(in: server)
            let path = world.base.dropFirst(server.baseURL.count)
            let session = try await world.workflowSession()
            _ = try await world.send(
                "POST", "/components/sessions/\(session)/document",
                ["documentType": "passport", "issuingCountry": "NLD"])
            _ = try await world.put("document/images/front", session)
            let rejected = try await world.workflowSession(
                client: ["client_id": "bad", "document_number": "sim-ClientRejected"])
            #expect(try await world.runDocument(rejected).status == 403)
            let code = try await world.validationCode()
            server.kill()

            server = try await SimProcess(["--data-dir", directory])
            defer { server.stop() }
            world = TestWorld(base: server.baseURL + path)
            #expect(
                try await world.send("GET", "/components/sessions/\(session)/document/images/front").body
                    == TestWorld.picture)
            #expect(try await world.validationCode(client: ["client_id": "bad"]).status == 403)
            let started = try await world.send(
                "POST", "/components/sessions",
                ["validationCode": code["validationCode"], "networkEnvironment": "sandbox"])
            #expect(started.status == 201)
            // The error for a missing file names none of Entrupy's SDK either.
            try FileManager.default.removeItem(atPath: "\(directory)/images")
            let lost = try await world.send("GET", "/components/sessions/\(session)/document/images/front")
            #expect(lost.status == 404 && lost["code"] == "not_found" && lost["sdk_error"] == .null)
            try await world.advance("1h")
            #expect(try await world.send("GET", "/components/sessions/\(session)")["status"] == "expired")
        }
    }
}
