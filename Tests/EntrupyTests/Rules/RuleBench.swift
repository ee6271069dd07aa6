import EntrupyAPI
import EntrupyStorage
import Foundation
import NIOConcurrencyHelpers
import NIOPosix
import SimulationAPI
import Storage
import TestSupport
import Testing

@testable import Entrupy
@testable import Simulation

/// One namespace in memory whose rules are called without HTTP. Real time is a value, and webhooks are collected instead of sent.
final class RuleBench: Sendable {
    let namespace: Namespace
    let namespaces: Namespaces
    private let time: NIOLockedValueBox<Instant>
    private let threads: NIOThreadPool
    private let outgoing = NIOLockedValueBox<[WebhookAttempt]>([])

    static let partner = Credential.token("demo-api-token")
    static let otherPartner = Credential.token("other-api-token")
    static let morning = Instant("2026-01-05T09:00:00Z")!

    /// - Parameter settings: a merge patch of the namespace's settings.
    init(settings: JSONValue = .object([:]), randomSeed: Int = 1) async throws {
        let time = NIOLockedValueBox(Self.morning)
        self.time = time
        threads = NIOThreadPool(numberOfThreads: 1)
        threads.start()
        namespaces = try Namespaces(
            NamespacesConfiguration(
                dataDirectory: nil, durability: .process, seed: .standard(), randomSeed: randomSeed,
                settings: .object(["rate_limits": .string("off")]), autoCreates: false),
            realTime: { time.withLockedValue { $0 } }, threads: threads, dueChanged: { _ in })
        let outgoing = outgoing
        namespaces.environment.webhooks.setSender { attempts in outgoing.withLockedValue { $0 += attempts } }
        try await namespaces.openAll()
        namespace = try #require(namespaces.find("default"))
        if settings != .object([:]) { _ = try await control(PatchSettings(settings)) }
    }

    deinit {
        threads.shutdownGracefully { _ in }
    }

    // MARK: Calls

    /// Calls an operation of the control API, or one that needs no credential.
    func control<Op: Simulation.Operation>(
        _ operation: @autoclosure () throws -> Op
    ) async throws -> Op.Output {
        try await answer(Result { try operation() }, .missing, RequestHead(isControl: true))
    }

    /// Calls an operation of the partner API.
    func partner<Op: Simulation.Operation>(
        _ operation: @autoclosure () throws -> Op, _ caller: Credential = partner, _ language: Language = .english
    ) async throws -> Op.Output where Op.Caller == Partner {
        try await answer(Result { try operation() }, caller, RequestHead(language: language))
    }

    /// Calls an operation of the SDK.
    func user<Op: Simulation.Operation>(
        _ operation: @autoclosure () throws -> Op, _ caller: Credential, _ language: Language = .english
    ) async throws -> Op.Output where Op.Caller == SDKUser {
        try await answer(Result { try operation() }, caller, RequestHead(language: language))
    }

    private func answer<Op: Simulation.Operation>(
        _ input: Result<Op, any Error>, _ credential: Credential, _ head: RequestHead
    ) async throws -> Op.Output {
        let input = input.mapError { $0 as? PlatformError ?? .bug("\($0)") }
        return try await namespace.answer(input, credential, head).result.get()
    }

    /// Runs `body` in a job of its own.
    func job<Value: Sendable>(_ body: @escaping @Sendable (JobContext) throws -> Value) async throws -> Value {
        try await namespace.run(RequestHead(isControl: true), .writes, body).result.get()
    }

    /// The stored item.
    func item(_ id: String) async throws -> ItemRecord {
        try #require(try await job { try $0.transaction.item(entrupyID: id) })
    }

    /// Moves real time, and runs what is then due.
    func wait(_ span: String) async {
        time.withLockedValue { $0 = $0 + Span(span)! }
        await namespace.tick()
    }

    // MARK: Usual steps

    func login(_ name: String = "bench-user") async throws -> Credential {
        let signed = try await partner(
            AuthorizeUser(
                AuthorizeUserRequest(sdk_authorization_request: "r", unique_user_id: name, email: "\(name)@example.com")
            )
        ).signed.signed_authorization_request
        let login = try await control(Login(LoginRequest(signed_authorization_request: signed)))
        return .token(login.token)
    }

    /// An item's capture, with an image of each region.
    func capture(_ user: Credential, _ id: String? = nil, brand: String = "Nike", type: ConfigType = .production)
        async throws -> String
    {
        var members: JSONObject = ["brand": .string(brand), "style_name": .string("Air Max")]
        members["customer_item_id"] = id.map { .string($0) }
        let started = try await self.user(
            StartCapture(StartCaptureRequest(config_type: type, item: members)), user)
        try await upload(started.captureID, user)
        return started.captureID
    }

    /// Uploads an image of each region, or of some.
    func upload(_ capture: String, _ user: Credential, where isWanted: (CaptureStep) -> Bool = { _ in true })
        async throws
    {
        for step in try await self.user(ByID<ShowCapture>(capture), user).steps where isWanted(step) {
            let image = ReceivedImage(Self.picture, digests: [], store: namespaces.environment.images)
            _ = try await self.user(UploadImage(captureID: capture, regionID: step.region_id, image: image), user)
            image.release(isKept: true)
        }
    }

    /// Submits an item; answers its id.
    func submit(_ user: Credential, _ id: String? = nil, brand: String = "Nike", type: ConfigType = .production)
        async throws -> String
    {
        let capture = try await capture(user, id, brand: brand, type: type)
        return try await self.user(ByID<SubmitCapture>(capture), user).entrupy_id
    }

    /// The smallest file that passes for a JPEG.
    static let picture = Data([
        0xff, 0xd8, 0xff, 0xc0, 0, 0x0b, 8, 0, 16, 0, 16, 1, 1, 0x11, 0, 0xff, 0xda, 0, 8, 1, 1, 0, 0, 0x3f, 0, 0x12,
        0xff,
        0xd9,
    ])

    // MARK: Webhooks

    /// Takes the attempts that wait to be made.
    func attempts() -> [OutgoingWebhook] { outgoing.withLockedValue { $0.map(\.webhook) } }

    /// Ends the first attempt that waits, with the receiver's status and answer.
    @discardableResult func deliver(
        _ status: Int, answer: String? = nil, milliseconds: Double = 1
    ) async throws -> OutgoingWebhook {
        let attempt = try #require(
            outgoing.withLockedValue { $0.isEmpty ? nil : $0.removeFirst() }, "no attempt waits")
        await attempt.end(WebhookOutcome(status: status, error: nil, milliseconds: milliseconds, answer: answer))
        return attempt.webhook
    }

    /// Answers every attempt with success until none is left; answers the events.
    func deliverAll() async throws -> [String] {
        var events: [String] = []
        while !attempts().isEmpty { events.append(try Self.body(try await deliver(200))["event"]?.text ?? "") }
        return events
    }

    static func body(_ webhook: OutgoingWebhook) throws -> JSONObject {
        let body = try #require(webhook.body)
        return try #require(try WireJSON.decode(JSONValue.self, from: body).members)
    }

    func subscribe(_ version: PartnerVersion = .v2, events: [String]? = nil) async throws -> Subscription {
        try await partner(
            Subscribe(
                SubscriptionRequest(
                    url: "http://127.0.0.1:1/hook", secret_key: "s", events: events, format: .event), version))
    }
}

/// The parts of a request from which an operation decodes itself, without HTTP.
struct SentRequest: RequestInput {
    let parameters: [String: String]
    let query: FieldReader
    let body: JSONObject
    let platforms: Platforms
    let routes: KnownRoutes

    func path(_ name: String) -> String { parameters[name] ?? "" }
}

extension RuleBench {
    func sent(_ body: JSONValue, path: [String: String] = [:], query: Substring = "") -> SentRequest {
        SentRequest(
            parameters: path, query: FieldReader(query: query), body: body.members ?? [:],
            platforms: namespaces.environment.platforms, routes: namespaces.environment.routes)
    }

    /// Makes an item without a capture, which webhooks announce; answers its id.
    @discardableResult func announce(_ template: JSONObject = [:]) async throws -> String {
        let made = await namespace.generateItems(
            .success(try ItemTemplate(sent(.object(template)))), RequestHead(isControl: true))
        return try #require(try made.result.get().entrupy_ids.first)
    }

    /// Makes items without captures, which no webhook announces; answers their ids, newest first.
    @discardableResult func generate(_ template: JSONObject, count: Int = 1) async throws -> [String] {
        let body: JSONValue = ["count": .number(JSONNumber(count)), "template": .object(template)]
        let made = await namespace.generateItems(
            .success(try ItemTemplate(sent(body))), RequestHead(isControl: true))
        return try made.result.get().entrupy_ids
    }
}

/// The refusal that `body` meets; `nil` if it succeeds.
func refusalError<Value>(_ body: () async throws -> Value) async -> PlatformError? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error as? PlatformError ?? .bug("\(error)")
    }
}

extension PlatformError {
    /// Whole seconds until a retry succeeds; `nil` if it says none.
    var retryAfter: Int? { if case .retryAfter(let seconds) = payload { seconds } else { nil } }
}

/// The kind of the refusal that `body` meets; `nil` if it succeeds.
func refusal<Value>(_ body: () async throws -> Value) async -> PlatformError.Kind? {
    await refusalError(body)?.kind
}
