import EntrupySimTesting
import Foundation
import SimulationAPI

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What an app's back end does, in the organization of the namespace.
extension SimulatedNamespace {
    /// A validation code for a session of a workflow.
    func validationCode(_ workflow: String = "onboarding", client: [String: String] = [:]) async throws -> String {
        let answer = try await post("components/v1/workflows/\(workflow)/validationcode", ["client": client])
        return answer["validationCode"]?.text ?? ""
    }

    /// The signed form of an app's authorization request.
    func signed(_ request: String) async throws -> String {
        let body = [
            "sdk_authorization_request": request, "unique_user_id": "sim-test-user", "email": "user@example.com",
        ]
        return try await post("v2/integrations/authorize-user", body)["signed_authorization_request"]?.text ?? ""
    }

    private func post(_ path: String, _ body: some Encodable) async throws -> [String: JSONValue] {
        var request = URLRequest(url: url.appendingPathComponent(path))
        request.httpMethod = "POST"
        request.setValue("Token \(apiToken)", forHTTPHeaderField: "Authorization")
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = try JSONEncoder().encode(body)
        let session = URLSession(configuration: .ephemeral)
        defer { session.finishTasksAndInvalidate() }
        let (data, _) = try await session.data(for: request)
        return try JSONDecoder().decode([String: JSONValue].self, from: data)
    }
}
