import Entrupy
import HTTPTypes
import Hummingbird
import Simulation

/// The routes of one surface: each line names the method, the path and the operation that a request asks for.
///
/// GET and DELETE take no body, the other methods a JSON object, and the status is 200, unless the line says otherwise.
struct Routes {
    let builder: RouteBuilder
    let bodies: BodyReader
    /// The beginning of each path.
    var prefix = ""
    /// The lowest minor version of `/v1` that has the routes, which then need the header `Api-Version`. `nil` for other surfaces, which
    /// ignore it [P].
    var minVersion: Int?
    var json = JSONRule.strict
    /// Equal reads that are made once; `nil` if the surface's answers depend on the caller.
    var shared: SharedReads?

    /// Adds a route that answers by itself.
    func on(
        _ method: HTTPRequest.Method, _ path: String,
        _ respond: @escaping @Sendable (RequestReader) async -> Answer
    ) {
        let (bodies, minVersion, json) = (bodies, minVersion, json)
        builder.on(method, prefix + path) { request in
            await respond(RequestReader(request, bodies: bodies, minVersion: minVersion, json: json))
        }
    }

    /// Adds a route that reads by itself. Equal reads that wait beside each other are made once where the surface allows it.
    func reading(
        _ path: String, _ form: SharedReads.Form = .bytes,
        _ respond: @escaping @Sendable (RequestReader) async -> Answer
    ) {
        guard let shared else { return on(.get, path, respond) }
        on(.get, path) { await shared.respond(to: $0, form, respond) }
    }

    /// Adds a route that renders the output of its operation.
    func on<Op: Simulation.Operation>(
        _ method: HTTPRequest.Method, _ path: String, _ body: BodyRule,
        _ decode: @escaping @Sendable (RequestReader) throws -> Op,
        render: @escaping @Sendable (Completed<Op.Output>) -> Answer
    ) {
        on(method, path) { render(await $0.answer(body, decode)) }
    }
}

// Routes that answer with JSON.
extension Routes {
    func get<Op: Simulation.Operation>(
        _ path: String, _ decode: @escaping @Sendable (RequestReader) throws -> Op
    ) where Op.Output: Encodable {
        reading(path) { await $0.answer(.ignored, decode).response() }
    }

    func post<Op: Simulation.Operation>(
        _ path: String, body: BodyRule = .json, status: HTTPResponse.Status = .ok,
        _ decode: @escaping @Sendable (RequestReader) throws -> Op
    ) where Op.Output: Encodable {
        on(.post, path, body, decode) { $0.response(status) }
    }

    func patch<Op: Simulation.Operation>(
        _ path: String, _ decode: @escaping @Sendable (RequestReader) throws -> Op
    ) where Op.Output: Encodable {
        on(.patch, path, .json, decode) { $0.response() }
    }

    func delete<Op: Simulation.Operation>(
        _ path: String, _ decode: @escaping @Sendable (RequestReader) throws -> Op
    ) where Op.Output: Encodable {
        on(.delete, path, .ignored, decode) { $0.response() }
    }
}

// Routes whose operations encode their answers themselves.
extension Routes {
    func get<Op: Simulation.Operation>(
        _ path: String, _ decode: @escaping @Sendable (RequestReader) throws -> Op
    ) where Op.Output == EncodedJSON {
        reading(path) { await $0.answer(.ignored, decode).encodedResponse() }
    }

    func post<Op: Simulation.Operation>(
        _ path: String, body: BodyRule = .json, _ decode: @escaping @Sendable (RequestReader) throws -> Op
    ) where Op.Output == EncodedJSON {
        on(.post, path, body, decode) { $0.encodedResponse() }
    }
}

// Routes that answer 204.
extension Routes {
    func post<Op: Simulation.Operation>(
        _ path: String, body: BodyRule = .json, _ decode: @escaping @Sendable (RequestReader) throws -> Op
    ) where Op.Output == Void {
        on(.post, path, body, decode) { $0.emptyResponse() }
    }

    func delete<Op: Simulation.Operation>(
        _ path: String, _ decode: @escaping @Sendable (RequestReader) throws -> Op
    ) where Op.Output == Void {
        on(.delete, path, .ignored, decode) { $0.emptyResponse() }
    }
}

// Routes without body and query for work that is more than one job.
extension Routes {
    func longOperation(
        _ method: HTTPRequest.Method, _ path: String,
        _ respond: @escaping @Sendable (RequestReader) async -> Answer
    ) {
        on(method, path) { request in
            await request.reading { _ in
            } then: {
                await respond(request)
            }
        }
    }
}
