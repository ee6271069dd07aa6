import EntrupyAPI
import Foundation
import Hummingbird
import Platform

/// Loads and exports seed data (`/_sim/seed` and `/_sim/export`).
struct SeedController {
    let bodies: BodyReader

    var endpoints: RouteCollection<SimContext> {
        RouteCollection(context: SimContext.self)
            .post("_sim/seed", use: load)
            .get("_sim/export", use: export)
    }

    private enum Format: String, CaseIterable {
        case yaml, json
    }

    @Sendable private func load(_ request: Request, _ context: SimContext) async -> Response {
        let reader = RequestReader(request, context, bodies: bodies, isControl: true)
        let input = await reader.document().map { LoadSeed($0) }
        return await reader.withoutQuery { await reader.namespace.answer(input, reader.head).response() }
    }

    @Sendable private func export(_ request: Request, _ context: SimContext) async -> Response {
        let reader = RequestReader(request, context, bodies: bodies, isControl: true)
        let input = await reader.input(.ignored) { input in
            var query = input.query
            let format = query.word("format", Format.self) ?? .yaml
            try query.finish()
            return format
        }
        let exported = await reader.namespace.answer(input.map { _ in ExportSeed() }, reader.head)
        return exported.response { answer in
            if case .success(.json) = input {
                return JSONAnswer.response(answer.json, status: .ok, requestID: exported.requestID)
            }
            return Response(
                status: .ok, headers: [.contentType: "application/yaml", .requestID: exported.requestID],
                body: .init(byteBuffer: ByteBuffer(string: answer.yaml)))
        }
    }
}
