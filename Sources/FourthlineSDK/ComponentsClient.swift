import ClientTransport
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Requests to the routes of App Components.
struct ComponentsClient: Sendable {
    let address: String

    /// Until an answer begins, a fault may delay it.
    private static let limits = RequestLimits(head: 60)

    /// - Throws: ``WorkflowError`` for every answer but 2xx, and if there is none.
    func post<Answer: Decodable>(_ path: String, _ body: [String: Any] = [:], as type: Answer.Type) async throws
        -> Answer
    {
        guard let bytes = try? JSONSerialization.data(withJSONObject: body) else {
            throw WorkflowError.problem("the request cannot be written as JSON")
        }
        return try await send("POST", path, bytes, "application/json", as: type)
    }

    /// - Throws: ``WorkflowError`` for every answer but 2xx, and if there is none.
    func send<Answer: Decodable>(
        _ method: String, _ path: String, _ body: Data, _ contentType: String, as type: Answer.Type
    ) async throws -> Answer {
        let (data, status) = try await answer(method, path, body, contentType)
        guard (200..<300).contains(status) else {
            guard let error = try? JSONDecoder().decode(WorkflowErrorBody.self, from: data) else {
                throw WorkflowError.problem("\(address) answered \(status) without the platform's error")
            }
            throw WorkflowError(error, status: status)
        }
        do {
            return try JSONDecoder().decode(type, from: data)
        } catch {
            throw WorkflowError.problem("\(address) answered \(status) with something else: \(error)")
        }
    }

    private func answer(
        _ method: String, _ path: String, _ body: Data, _ contentType: String
    ) async throws -> (Data, Int) {
        guard let request = URLRequest(method, address + path, body, type: contentType) else {
            throw WorkflowError.problem("\(address) is not a URL of a server")
        }
        do {
            let answer = try await BoundedRequest(request, Self.limits).answer()
            return (answer.body, answer.status)
        } catch let refused as RefusedAnswer {
            throw WorkflowError.problem(refused.description(of: address))
        } catch {
            throw WorkflowError.problem("\(address) cannot be reached: \(error.localizedDescription)")
        }
    }
}
