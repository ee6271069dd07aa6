import EntrupyAPI
import Foundation
import Hummingbird
import Logging
import NIOConcurrencyHelpers
import NIOCore
import Platform

/// The facts about a request that the responders found before its route runs, and the outcome that the route leaves
/// for them: the router passes on nothing but the answer itself.
///
/// This is a class because the framework copies a context about two dozen times per request.
final class RequestScope: Sendable {
    let namespace: Namespace
    let head: RequestHead
    /// Receives the body once it is read. `nil` if neither the recording nor the journal needs it.
    let received: ReceivedBody?
    private let outcomeBox: NIOLockedValueBox<RequestOutcome?>

    /// What the request's job decided besides the answer; `nil` before it has run.
    var outcome: RequestOutcome? { outcomeBox.withLockedValue { $0 } }

    init(namespace: Namespace, head: RequestHead, received: ReceivedBody?) {
        self.namespace = namespace
        self.head = head
        self.received = received
        outcomeBox = NIOLockedValueBox(nil)
    }

    /// The same request, counted as a control request or not.
    init(_ scope: RequestScope, isControl: Bool) {
        namespace = scope.namespace
        var head = scope.head
        head.isControl = isControl
        self.head = head
        received = scope.received
        outcomeBox = scope.outcomeBox
    }

    /// Leaves the outcome of a job for the responders.
    func finish<Value>(_ completed: Completed<Value>) -> Completed<Value> {
        if let outcome = completed.outcome { outcomeBox.withLockedValue { $0 = outcome } }
        return completed
    }
}

/// The request context: everything a controller knows besides the request itself.
struct SimContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// Set by ``RouteResponder``. `nil` while the server is not ready.
    var scope: RequestScope?
    /// The connection that the request arrived on.
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        channel = source.channel
        coreContext = CoreRequestContextStorage(source: source)
    }
}

/// A route's rule for the request body.
enum BodyRule {
    /// The route needs no body. A body that is sent is skipped.
    case ignored
    case json
    /// A JSON object. No body at all reads as an empty object.
    case optionalJSON
    /// The route reads the body itself and sets its own size limit.
    case streamed
}

/// A version of the partner API, as a route serves it.
enum PartnerSurface {
    /// `/v1`. Requires the header `Api-Version`: 1.`from` or later.
    case v1(from: Int = 0)
    /// `/v2`. Ignores `Api-Version` [P].
    case v2
}

/// The parts of a request that a controller builds an operation from.
struct RequestInput {
    /// The body's members. Empty if the route takes no body.
    let body: JSONObject
    /// The version of the partner API that the request uses.
    let version: PartnerVersion
    private let path: String?
    /// Whether the route has read the query. `nil` if this is not a control request: only control requests refuse
    /// unknown parameters [D unknown-members].
    private let hasReadQuery: NIOLockedValueBox<Bool>?

    /// - Parameter path: the path with its query.
    init(body: JSONObject, version: PartnerVersion, path: String?, isControl: Bool) {
        self.body = body
        self.version = version
        self.path = path
        hasReadQuery = isControl ? NIOLockedValueBox(false) : nil
    }

    /// The query's parameters. A route that reads the query also checks it; ``checkNoQuery()`` checks it for all
    /// other routes.
    var query: QueryReader {
        hasReadQuery?.withLockedValue { $0 = true }
        let query = path.flatMap { path in
            path.utf8.firstIndex(of: UInt8(ascii: "?")).map { path[path.index(after: $0)...] }
        }
        return QueryReader(query ?? "", isStrict: hasReadQuery != nil)
    }

    /// Refuses a control request that has parameters if the route reads none. Ignoring them would hide a caller's
    /// mistake.
    func checkNoQuery() throws {
        guard let hasReadQuery, !hasReadQuery.withLockedValue({ $0 }) else { return }
        var query = query
        try query.finish()
    }
}

/// Handles one request: reads it, runs it as one job, and answers.
struct RequestReader: Sendable {
    let request: Request
    private let scope: RequestScope
    private let bodies: BodyReader
    private let path: Parameters

    var namespace: Namespace { scope.namespace }
    var head: RequestHead { scope.head }
    /// The credential in `Authorization`.
    var credential: Credential { head.metadata?.credential ?? headers.credential }
    private var headers: HeaderReader { HeaderReader(request.headers) }
    /// Receives the body once it is read.
    var received: ReceivedBody? { scope.received }

    /// The maximum size of a JSON body, in bytes [D body-sizes].
    static let jsonLimit = 1_000_000

    init(_ request: Request, _ context: SimContext, bodies: BodyReader, isControl: Bool = false) {
        guard let scope = context.scope else { preconditionFailure("no responder set the scope") }
        self.request = request
        self.bodies = bodies
        path = context.parameters
        self.scope = scope.head.isControl == isControl ? scope : RequestScope(scope, isControl: isControl)
    }

    /// Leaves the outcome of a job for the responders.
    func finish<Value>(_ completed: Completed<Value>) -> Completed<Value> { scope.finish(completed) }

    /// A parameter of the path, percent-decoded. A value that cannot be decoded stays as it is: it names nothing that
    /// exists.
    func path(_ name: String) -> String {
        let text = path.get(name) ?? ""
        guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
        // SQLite ends a text at a NUL, so a text that contains one must not be searched for.
        guard let decoded = text.removingPercentEncoding, !decoded.utf8.contains(0) else { return text }
        return decoded
    }

    /// Answers a request with the operation that `make` decodes from it.
    func answer<Wanted: Platform.Operation>(
        _ rule: BodyRule = .ignored, on surface: PartnerSurface = .v2, make: (RequestInput) throws -> Wanted
    ) async -> Completed<Wanted.Output> {
        let input = await input(rule, on: surface, make)
        return scope.finish(await namespace.answer(input, credential, head))
    }

    /// Answers the upload of an image. The media type is not checked.
    func upload<Wanted: Platform.Operation>(
        make: @Sendable @escaping (ReceivedImage) -> Wanted
    ) async -> Completed<Wanted.Output> {
        let environment = namespace.environment
        let input: Result<Wanted, PlatformError>
        var received: ReceivedImage?
        switch await bodies.read(request, upTo: ReceivedImage.limit, into: self.received) {
        case .failure(let error): input = .failure(error)
        case .success(let body):
            do {
                let content = try body.content.get()
                let digests = try headers.contentDigests()
                let image = try await environment.threads.runIfActive {
                    // The digest covers the bytes as they were sent (RFC 9530).
                    ReceivedImage(
                        Data(buffer: content), sent: body.isDecoded ? Data(buffer: body.sent) : nil, digests: digests,
                        store: environment.images)
                }
                received = image
                if image.differsFromDigest { self.received?.markWrongDigest() }
                input = .success(make(image))
            } catch {
                input = .failure(error as? PlatformError ?? .unavailable("\(error)"))
            }
        }
        let completed = scope.finish(await namespace.answer(input, credential, head))
        if let received {
            let isKept = if case .success = completed.result { true } else { false }
            // The release runs even while the server is stopping. If it fails, the sweep at the next start cleans up.
            try? await environment.threads.runIfActive { received.release(isKept: isKept) }
        }
        return completed
    }

    /// Reads the input of a job and checks, in this order, the version, the size, the media type and the
    /// body [D order-of-checks].
    func input<Wanted>(
        _ rule: BodyRule, on surface: PartnerSurface = .v2, _ make: (RequestInput) throws -> Wanted
    ) async -> Result<Wanted, PlatformError> {
        do {
            let body = await body(rule)
            var version = PartnerVersion.v2
            if case .v1(let least) = surface {
                if let problem = headers.apiVersionProblem(from: least) { throw problem }
                version = headers.apiVersion ?? version
            }
            let input = RequestInput(
                body: try body.get(), version: version, path: request.head.path, isControl: head.isControl)
            let made = try make(input)
            try input.checkNoQuery()
            return .success(made)
        } catch let error as PlatformError {
            return .failure(error)
        } catch {
            return .failure(.bug("\(error)"))
        }
    }

    private func body(_ rule: BodyRule) async -> Result<JSONObject, PlatformError> {
        if case .streamed = rule { return .success([:]) }
        if case .ignored = rule {
            let isTooLarge = (headers.contentLength ?? 0) > Self.jsonLimit
            if isTooLarge { received?.markIncomplete() }
            if let problem = received?.problem { return .failure(problem) }
            return isTooLarge ? .failure(.bodyTooLarge(limit: Self.jsonLimit)) : .success([:])
        }
        return await bodies.read(request, upTo: Self.jsonLimit, into: received).flatMap { body in
            if case .optionalJSON = rule, case .success(let content) = body.content, content.readableBytes == 0 {
                return .success([:])
            }
            if let problem = headers.jsonMediaTypeProblem { return .failure(.unsupportedMediaType(problem)) }
            return body.content.flatMap { content in
                guard content.readableBytes > 0 else {
                    return .failure(.invalid([ErrorDetail("body", "is empty; a JSON object is needed")]))
                }
                return Self.object(Array(content.readableBytesView))
            }
        }
    }

    /// The body as YAML or JSON text. The caller parses it.
    func document() async -> Result<String, PlatformError> {
        await bodies.read(request, upTo: Self.jsonLimit, into: received).flatMap { body in
            if let problem = headers.documentMediaTypeProblem { return .failure(.unsupportedMediaType(problem)) }
            return body.content.flatMap(text)
        }
    }

    private func text(_ buffer: ByteBuffer) -> Result<String, PlatformError> {
        // JSON is strict here as everywhere [D strict-json].
        if headers.isJSON, case .failure(let error) = Self.object(Array(buffer.readableBytesView)) {
            return .failure(error)
        }
        guard buffer.readableBytes > 0 else {
            return .failure(.invalid([ErrorDetail("body", "is empty; YAML or JSON is needed")]))
        }
        guard let text = String(validating: buffer.readableBytesView, as: UTF8.self) else {
            return .failure(.invalid([ErrorDetail("body", "must be UTF-8")]))
        }
        return .success(text)
    }

    private static func object(_ bytes: [UInt8]) -> Result<JSONObject, PlatformError> {
        do {
            let value = try StrictJSON.parse(bytes)
            guard let members = value.members else {
                return .failure(.invalid([ErrorDetail("body", "must be a JSON object, got \(value.typeName)")]))
            }
            return .success(members)
        } catch {
            let place = "line \(error.line), column \(error.column)"
            return .failure(
                .invalid(
                    "malformed JSON at \(place): \(error.text)",
                    [ErrorDetail(error.path.isEmpty ? "body" : error.path, "\(place): \(error.text)")]))
        }
    }
}

extension Completed {
    /// The answer as JSON, or the error envelope.
    func response(_ status: HTTPResponse.Status = .ok) -> Response where Output: Encodable {
        response { JSONAnswer.response($0, status: status, requestID: requestID) }
    }

    /// The answer, which is already encoded, or the error envelope.
    func encodedResponse(_ status: HTTPResponse.Status = .ok) -> Response where Output == EncodedJSON {
        response { JSONAnswer.response(encoded: $0.bytes, status: status, requestID: requestID) }
    }

    /// An answer without a body, or the error envelope.
    func emptyResponse() -> Response where Output == Void {
        response { _ in Response(status: .noContent, headers: [.requestID: requestID]) }
    }

    /// The answer as `render` builds it, or the error envelope.
    func response(_ render: (Output) -> Response) -> Response {
        switch result {
        case .success(let output): render(output)
        case .failure(let error): ErrorAnswer.response(error, requestID: requestID)
        }
    }
}

extension Completed<Never> {
    /// The error envelope for a request that led to no operation.
    func refusal() -> Response {
        switch result {
        case .failure(let error): ErrorAnswer.response(error, requestID: requestID)
        }
    }
}
