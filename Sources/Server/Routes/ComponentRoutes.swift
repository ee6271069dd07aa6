import AppComponents
import AppComponentsAPI
import Hummingbird
import Simulation
import SimulationAPI

/// The routes of Fourthline's App Components. They need no token but that of the organization for a validation code.
enum ComponentRoutes {
    static func add(to routes: Routes) {
        routes.components(.post, "v1/workflows/{workflowId}/validationcode", .optionalJSON) {
            try CreateValidationCode($0)
        }
        routes.components(.post, "sessions", .json, status: .created) { try StartWorkflowSession($0) }
        routes.on(.get, "components/sessions/{id}", available)
        routes.components(.delete, "sessions/{id}", .ignored) { ByID<ClearWorkflowSession>($0.path("id")) }
        for component in Component.allCases { add(component, to: routes) }
        let document = "components/sessions/{id}/document"
        routes.on(.put, "\(document)/images/{side}") { await upload($0, .document, side: $0.path("side")) }
        routes.on(.get, "\(document)/images/{side}") { await file($0, .document, side: $0.path("side")) }
        routes.components(.post, "sessions/{id}/document/finish", .ignored) { ByID<FinishDocument>($0.path("id")) }
        let biometrics = "components/sessions/{id}/biometrics"
        for selfie in ["\(biometrics)/selfie", "\(biometrics)/images/selfie"] {
            routes.on(.put, selfie) { await upload($0, .biometrics, side: "selfie") }
            routes.on(.get, selfie) { await file($0, .biometrics) }
        }
        routes.components(.post, "sessions/{id}/biometrics/finish", .ignored) {
            ByID<FinishBiometrics>($0.path("id"))
        }
    }

    private static func add(_ component: Component, to routes: Routes) {
        let path = "sessions/{id}/\(component.rawValue)"
        routes.components(.post, path, .optionalJSON, status: .created) { try StartComponent($0, component) }
        routes.components(.post, "\(path)/cancel", .ignored) {
            CancelComponent(sessionID: $0.path("id"), component)
        }
        let video = "components/\(path)/\(component == .document ? "video" : "liveness")"
        routes.on(.put, video) { request in
            let id = request.path("id")
            let check = Result { try ComponentForm.check(request) }
            let completed = await request.upload { (video: ReceivedVideo) in
                try check.get()
                return UploadVideo(sessionID: id, component, video: video)
            }
            return ComponentForm(request).response(completed.map { .success($0) })
        }
        routes.on(.get, video) { await file($0, component, isVideo: true) }
    }

    /// Whether a session is available. Plugins get nothing but that [S].
    @Sendable private static func available(_ request: RequestReader) async -> Answer {
        let form = ComponentForm(request)
        let completed = await request.answer(.ignored, checked { ByID<ShowWorkflowSession>($0.path("id")) })
        guard form.isPlugin else { return form.response(completed.map { .success($0) }) }
        return form.response(completed.map { .success($0.available) })
    }

    @Sendable private static func upload(
        _ request: RequestReader, _ component: Component, side: String
    ) async -> Answer {
        let id = request.path("id")
        let angled = Result { try isAngled(request) }
        let completed = await request.upload { (image: ReceivedImage) in
            UploadPicture(sessionID: id, component, side: side, isAngled: try angled.get(), image: image)
        }
        return ComponentForm(request).response(completed.map { .success($0) })
    }

    private static func isAngled(_ request: RequestReader) throws -> Bool {
        try ComponentForm.check(request)
        var query = request.query
        let isAngled = query.optionalBool("angled") ?? false
        try query.finish()
        return isAngled
    }

    /// Serves a picture or video while its session lasts [D component-files].
    @Sendable private static func file(
        _ request: RequestReader, _ component: Component, side: String? = nil, isVideo: Bool = false
    ) async -> Answer {
        let found = await request.answer { request in
            FindComponentFile(
                sessionID: request.path("id"), component, side: side, isAngled: try isAngled(request), isVideo: isVideo)
        }
        if case .failure(let error) = found.result {
            return ComponentForm(request).refusal(error, found.requestID, found.outcome)
        }
        return await found.response(
            hasSDKError: request.hasSDKErrors,
            awaiting: { file throws(PlatformError) in
                try await request.file(
                    file.sha256, file.mediaType, requestID: found.requestID, caching: "no-store")
            })
    }
}

extension JSONRule {
    /// Bodies as the vendor's samples have them [S].
    static let ofComponents = JSONRule(allowsTrailingCommas: true) { WorkflowFailure.parseError.error($0, $1) }
}

extension Routes {
    /// Adds a route of App Components whose operation answers JSON, or an error of Fourthline's documentation.
    fileprivate func components<Op: Simulation.Operation, Document: Encodable & Sendable>(
        _ method: HTTPRequest.Method, _ path: String, _ body: BodyRule, status: HTTPResponse.Status = .ok,
        _ decode: @escaping @Sendable (RequestReader) throws -> Op
    ) where Op.Output == AppComponents.CommittedResult<Document> {
        on(method, "components/\(path)") { request in
            ComponentForm(request).response(await request.answer(body, checked(decode)), status)
        }
    }

    fileprivate func components<Op: Simulation.Operation>(
        _ method: HTTPRequest.Method, _ path: String, _ body: BodyRule,
        _ decode: @escaping @Sendable (RequestReader) throws -> Op
    ) where Op.Output: Encodable {
        on(method, "components/\(path)") { request in
            ComponentForm(request).response(await request.answer(body, checked(decode)).map { .success($0) })
        }
    }
}

/// Decodes a request after the check of the form of its answer.
private func checked<Op>(
    _ decode: @escaping @Sendable (RequestReader) throws -> Op
) -> @Sendable (RequestReader) throws -> Op {
    { request in
        try ComponentForm.check(request)
        return try decode(request)
    }
}

/// The form in which a route of App Components answers: plainly, or as the vendor's plugins hand answers to JavaScript
/// and Dart [D plugin-form].
private struct ComponentForm {
    let isPlugin: Bool
    /// Whether booleans are texts, as Cordova's are [S].
    private let hasTextBooleans: Bool

    static let mediaType = "application/vnd.fourthline.plugin+json"

    init(_ request: RequestReader) {
        // `check` refuses the request with the error.
        let (form, plugin) = (try? Self.named(request).get()) ?? (nil, nil)
        isPlugin = form != nil || plugin != nil || Self.accepts(request.request.headers[values: .accept])
        hasTextBooleans = plugin == "cordova"
    }

    /// Checks the query's `form` and `plugin`.
    ///
    /// - Throws: ``PlatformError/invalid(_:_:)``.
    static func check(_ request: RequestReader) throws { _ = try named(request).get() }

    private static func named(_ request: RequestReader) -> Result<(form: String?, plugin: String?), any Error> {
        Result {
            var query = request.query
            let form = query.word("form", ["plugin"])
            let plugin = query.word("plugin", ["cordova", "flutter", "react_native"])
            try query.finish()
            return (form, plugin)
        }
    }

    /// Whether `Accept` names the media type of plugins, in any case and with any parameters but `q=0`.
    private static func accepts(_ values: [String]) -> Bool {
        values.flatMap { $0.prefix(1000).split(separator: ",") }.contains { range in
            let parts = range.lowercased().split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
            return parts.first == mediaType && !parts.contains("q=0")
        }
    }

    func response<Document: Encodable>(
        _ completed: Completed<AppComponents.CommittedResult<Document>>, _ status: HTTPResponse.Status = .ok
    ) -> Answer {
        let requestID = completed.requestID
        return switch completed.result.flatMap({ $0 }) {
        case .failure(let error): refusal(error, requestID, completed.outcome)
        case .success(let document): Answer(response(document, status, requestID), completed.outcome)
        }
    }

    /// The answer for an error. The journal gets the fact behind it.
    func refusal(_ error: PlatformError, _ requestID: String, _ outcome: RequestOutcome?) -> Answer {
        Answer(response(error, requestID), refusing: error, outcome, hasSDKError: false)
    }

    private func response(_ document: some Encodable, _ status: HTTPResponse.Status, _ requestID: String) -> Response {
        guard isPlugin else { return JSONAnswer.response(document, status: status, requestID: requestID) }
        do {
            let value = try WireJSON.decode(JSONValue.self, from: WireJSON.encode(document))
            return JSONAnswer.response(converted(value), status: status, requestID: requestID)
        } catch {
            return response(.bug("\(error)"), requestID)
        }
    }

    private func response(_ error: PlatformError, _ requestID: String) -> Response {
        guard isPlugin else { return ErrorAnswer.response(error, requestID: requestID, hasSDKError: false) }
        if case .answer(_, .some, _) = error.payload { return ErrorAnswer.response(error, requestID: requestID) }
        let failure = Self.failure(error)
        let body: JSONValue = [
            "errorCode": .number(JSONNumber(failure.pluginCode)),
            "errorDescription": .string("\(failure.pluginTitle): \(error.message)"),
        ]
        return ErrorAnswer.withHeaders(
            of: error, JSONAnswer.response(body, status: ErrorTable.row(error).status, requestID: requestID))
    }

    /// The error of plugins for a refusal [D plugin-form].
    private static func failure(_ error: PlatformError) -> WorkflowFailure {
        if case .fact(let fact) = error.payload, let fact = fact as? WorkflowFact { return fact.failure }
        return switch error.kind {
        case .invalid, .unsupportedMediaType, .unsupportedEncoding, .imageRejected: .decodingError
        default: .unexpected
        }
    }

    /// A value as plugins have it: coordinates are texts, and with Cordova booleans too.
    private func converted(_ value: JSONValue) -> JSONValue {
        switch value {
        case .bool(let flag) where hasTextBooleans: .string(flag ? "true" : "false")
        case .object(let members):
            .object(
                JSONObject(
                    members.sorted.map { member in
                        if member.name.isIdentical(to: "longitude"), case .number(let number) = member.value {
                            return (member.name, .string(number.text))
                        }
                        return (member.name, converted(member.value))
                    }))
        case .array(let elements): .array(elements.map(converted))
        default: value
        }
    }
}
