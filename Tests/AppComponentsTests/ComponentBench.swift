import AppComponentsAPI
import AppComponentsStorage
import Foundation
import NIOConcurrencyHelpers
import NIOPosix
import SimulationAPI
import Storage
import Testing

@testable import AppComponents
@testable import Simulation

/// One namespace in memory with App Components alone, whose rules are called without HTTP. Real time is a value, so the
/// clock stands still between two calls of ``wait(_:)``.
final class ComponentBench: Sendable {
    let namespace: Namespace
    let namespaces: Namespaces
    private let time: NIOLockedValueBox<Instant>
    private let threads: NIOThreadPool

    static let seller = Credential.token("seller-token")
    static let otherSeller = Credential.token("other-seller-token")
    static let morning = Instant("2026-01-05T09:00:00Z")!
    /// The smallest step of the clock.
    static let microsecond = Span(microseconds: 1)

    /// The workflows and clients are the built-in ones.
    private static let seed = """
        organizations:
          - {name: Seller, api_tokens: [seller-token]}
          - {name: Other seller, api_tokens: [other-seller-token]}
        """

    /// - Parameters:
    ///   - settings: the members of `components` in the namespace's settings.
    ///   - start: the time at which the namespace is created.
    init(settings: JSONObject = [:], at start: Instant = morning) async throws {
        let time = NIOLockedValueBox(start)
        self.time = time
        threads = NIOThreadPool(numberOfThreads: 1)
        threads.start()
        let platforms = Platforms([AppComponentsPlatform()], standardSeed: Self.seed)
        namespaces = try Namespaces(
            NamespacesConfiguration(
                dataDirectory: nil, durability: .process, seed: platforms.standardSeed(), randomSeed: 1,
                settings: .object(["components": .object(settings)]), autoCreates: false),
            realTime: { time.withLockedValue { $0 } }, threads: threads, dueChanged: { _ in })
        try await namespaces.openAll()
        namespace = try #require(namespaces.find("default"))
    }

    deinit {
        threads.shutdownGracefully { _ in }
        namespaces.environment.copyThreads.shutdownGracefully { _ in }
    }

    // MARK: Calls

    /// Calls an operation of a customer's backend.
    func backend<Wanted: Simulation.Operation>(
        _ operation: @autoclosure () throws -> Wanted, _ caller: Credential = seller
    ) async throws -> Wanted.Output where Wanted.Caller == ComponentsPartner {
        try await answer(Result { try operation() }, caller, RequestHead())
    }

    /// Calls an operation of an app.
    func app<Wanted: Simulation.Operation>(
        _ operation: @autoclosure () throws -> Wanted
    ) async throws -> Wanted.Output where Wanted.Caller == Anyone {
        try await answer(Result { try operation() }, .missing, RequestHead())
    }

    /// Calls an operation of the control API.
    func control<Wanted: Simulation.Operation>(
        _ operation: @autoclosure () throws -> Wanted
    ) async throws -> Wanted.Output where Wanted.Caller == Control {
        try await answer(Result { try operation() }, .missing, RequestHead(isControl: true))
    }

    private func answer<Wanted: Simulation.Operation>(
        _ input: Result<Wanted, any Error>, _ credential: Credential, _ head: RequestHead
    ) async throws -> Wanted.Output {
        let input = input.mapError { $0 as? PlatformError ?? .bug("\($0)") }
        return try await namespace.run(head, Wanted.access) { job in
            let caller = try Wanted.Caller.identified(by: credential, job)
            return try input.get().perform(job, as: caller)
        }.result.get()
    }

    /// Runs `body` in a job of its own.
    func job<Value: Sendable>(_ body: @escaping @Sendable (JobContext) throws -> Value) async throws -> Value {
        try await namespace.run(RequestHead(isControl: true), .writes, body).result.get()
    }

    // MARK: Time

    /// Moves real time, and runs what is then due.
    func wait(_ span: String) async {
        await wait(until: time.withLockedValue { $0 } + Span(span)!)
    }

    func wait(until moment: Instant) async {
        time.withLockedValue { $0 = moment }
        await namespace.tick()
    }

    // MARK: Stored records

    /// The stored session.
    func record(_ session: String) async throws -> WorkflowSessionRecord {
        try #require(try await job { try $0.transaction.workflowSession(id: session) })
    }

    /// The stored component.
    func run(_ session: String, _ component: Component = .document) async throws -> ComponentRunRecord {
        try #require(
            try await job { try $0.transaction.componentRun(sessionID: session, component: component) })
    }

    /// The subjects of the events of a kind.
    func subjects(_ kind: EventKind) async throws -> [String] {
        try await job { job in
            try job.transaction.events(after: 0, limit: .max).filter { $0.kind == kind.name }.map(\.subject)
        }
    }

    /// Whether each picture or video is stored, once those that nothing refers to are removed.
    func areThere(_ uploads: ComponentUpload...) async throws -> [Bool] {
        await namespaces.sweepImages()
        return try uploads.map { try namespaces.environment.images.bytes(sha256: $0.sha256) != nil }
    }

    // MARK: Usual steps

    /// Adds an outcome rule.
    func rule(_ result: String, times: Int? = nil, match: JSONObject) async throws {
        var rule: JSONObject = ["match": .object(match), "result": .string(result)]
        rule["times"] = times.map { .number(JSONNumber($0)) }
        let document = JSONValue.object(rule)
        _ = try await control(AddOutcome(document))
    }

    /// The number of uses of each outcome rule.
    func hits() async throws -> [Int] { try await control(ListOutcomes()).outcomes.map(\.hits) }

    /// Creates a validation code.
    func code(
        _ workflow: String = "onboarding", client: JSONObject? = nil, _ caller: Credential = seller
    ) async throws -> String {
        try await backend(CreateValidationCode(workflowID: workflow, client: client), caller).validationCode
    }

    func start(_ code: String, _ environment: WorkflowEnvironment = .sandbox) async throws -> WorkflowSessionInfo {
        try await app(StartWorkflowSession(code: code, environment: environment)).get()
    }

    /// Starts a session with a new code; answers its id.
    func session(_ workflow: String = "onboarding", client: JSONObject? = nil) async throws -> String {
        try await start(code(workflow, client: client)).session_id
    }

    func show(_ session: String) async throws -> WorkflowSessionInfo {
        try await app(ByID<ShowWorkflowSession>(session))
    }

    func startDocument(
        _ session: String, _ type: IdentityDocument = .passport, _ country: String? = "NLD"
    ) async throws -> ComponentState {
        let start = StartComponent(
            sessionID: session, component: .document, type: type, country: country, location: nil)
        return try await app(start).get()
    }

    func startBiometrics(_ session: String) async throws -> ComponentState {
        let start = StartComponent(
            sessionID: session, component: .biometrics, type: nil, country: nil, location: nil)
        return try await app(start).get()
    }

    /// Uploads a picture of a document's side, or a selfie.
    @discardableResult func upload(
        _ session: String, _ side: String = "front", isAngled: Bool = false, _ bytes: Data = picture
    ) async throws -> ComponentUpload {
        let image = ReceivedImage(bytes, digests: [], store: namespaces.environment.images)
        let component: Component = side == Workflow.selfie ? .biometrics : .document
        do {
            let upload = try await app(
                UploadPicture(sessionID: session, component, side: side, isAngled: isAngled, image: image))
            image.release(isKept: true)
            return upload
        } catch {
            image.release(isKept: false)
            throw error
        }
    }

    @discardableResult func uploadVideo(
        _ session: String, _ component: Component = .document, _ bytes: Data = video
    ) async throws -> ComponentUpload {
        let video = ReceivedVideo(bytes, digests: [], store: namespaces.environment.images)
        do {
            let upload = try await app(UploadVideo(sessionID: session, component, video: video))
            video.release(isKept: true)
            return upload
        } catch {
            video.release(isKept: false)
            throw error
        }
    }

    /// Uploads what a started component wants.
    func uploadAll(_ session: String, _ state: ComponentState) async throws {
        for image in state.images { try await upload(session, image.fileSide, isAngled: image.isAngled) }
        if state.hasVideo != nil { try await uploadVideo(session, state.component) }
    }

    func finishDocument(_ session: String) async throws -> DocumentResult {
        try await app(ByID<FinishDocument>(session)).get()
    }

    func finishBiometrics(_ session: String) async throws -> BiometricsResult {
        try await app(ByID<FinishBiometrics>(session)).get()
    }

    /// Starts the Document Component, uploads what it wants and ends it.
    @discardableResult func runDocument(
        _ session: String, _ type: IdentityDocument = .passport, _ country: String? = "NLD"
    ) async throws -> DocumentResult {
        try await uploadAll(session, startDocument(session, type, country))
        return try await finishDocument(session)
    }

    /// Starts the Biometrics Component, uploads what it wants and ends it.
    @discardableResult func runBiometrics(_ session: String) async throws -> BiometricsResult {
        try await uploadAll(session, startBiometrics(session))
        return try await finishBiometrics(session)
    }

    // MARK: Files

    /// The smallest file that passes for a JPEG.
    static let picture = picture("")

    /// A picture that differs for each text.
    static func picture(_ text: String) -> Data {
        let comment = Data(text.utf8)
        return Data([0xff, 0xd8, 0xff, 0xfe, 0, UInt8(comment.count + 2)]) + comment
            + Data([
                0xff, 0xc0, 0, 0x0b, 8, 0, 16, 0, 16, 1, 1, 0x11, 0, 0xff, 0xda, 0, 8, 1, 1, 0, 0, 0x3f, 0, 0x12, 0xff,
                0xd9,
            ])
    }

    /// A video of 4.2 seconds without pictures: the boxes that the simulator reads.
    static let video: Data = {
        func number(_ value: UInt32) -> Data { withUnsafeBytes(of: value.bigEndian) { Data($0) } }
        func box(_ name: String, _ content: Data) -> Data {
            number(UInt32(8 + content.count)) + Data(name.utf8) + content
        }
        let header = [0, 0, 0, 1000, 4200].map(number).reduce(Data(), +) + Data(count: 80)
        return box("ftyp", Data("isom\0\0\0\0isom".utf8)) + box("moov", box("mvhd", header))
    }()
}

/// The documented error that `body` meets; `nil` if it succeeds. Other errors are thrown.
func failure<Value>(_ body: () async throws -> Value) async throws -> WorkflowFailure? {
    do {
        _ = try await body()
        return nil
    } catch let error as PlatformError {
        guard case .fact(let fact) = error.payload, let fact = fact as? WorkflowFact else { throw error }
        return fact.failure
    }
}

/// The error that `body` meets; `nil` if it succeeds.
func refusal<Value>(_ body: () async throws -> Value) async throws -> PlatformError? {
    do {
        _ = try await body()
        return nil
    } catch let error as PlatformError {
        return error
    }
}
