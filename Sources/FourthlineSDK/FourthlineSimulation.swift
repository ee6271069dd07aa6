import ClientTransport
import Foundation

/// Controls the simulation behind ``Orca``: the platform's address, and a script for each of the next components.
///
/// The vendor's SDK does not have this type. Only tests need it.
///
/// ```swift
/// FourthlineSimulation.baseURL = URL(string: "http://127.0.0.1:8642")!
/// FourthlineSimulation.script(.cancel, .submit())
/// ```
public final class FourthlineSimulation: Sendable {
    private struct State {
        var baseURL: URL
        var scripts: [ComponentScript] = []
        var sessionErrors: [WorkflowError] = []
    }

    private let state: Locked<State>

    private init(baseURL: URL) {
        state = Locked(State(baseURL: baseURL))
    }

    private static let shared = FourthlineSimulation(baseURL: .ofSimulator)

    @TaskLocal private static var isolated: FourthlineSimulation?

    /// The settings that apply to the current task.
    static var current: FourthlineSimulation { isolated ?? shared }

    /// Runs `operation` with settings of its own, so that tests run in parallel.
    ///
    /// - Parameter baseURL: the address of the server, or of a namespace (`http://127.0.0.1:8642/ns/pr-12`).
    public static func isolated<Value>(
        baseURL: URL, operation: () async throws -> Value
    ) async rethrows -> Value {
        try await $isolated.withValue(FourthlineSimulation(baseURL: baseURL), operation: operation)
    }

    /// The address of the server, or of a namespace (`http://127.0.0.1:8642/ns/pr-12`). The default is `ENTRUPY_SIM_URL`
    /// of the environment, else `http://127.0.0.1:8642`.
    public static var baseURL: URL {
        get { current.state.withLock { $0.baseURL } }
        set { current.state.withLock { $0.baseURL = newValue } }
    }

    /// Scripts the next components, one script for each `present`. A component without a script is submitted.
    public static func script(_ scripts: ComponentScript...) {
        current.state.withLock { $0.scripts += scripts }
    }

    /// Makes the next sessions fail, each with one of these errors. No request is sent for them.
    public static func failSessions(with errors: WorkflowError...) {
        current.state.withLock { $0.sessionErrors += errors }
    }

    /// Forgets all scripts and errors.
    public static func reset() {
        current.state.withLock { ($0.scripts, $0.sessionErrors) = ([], []) }
    }

    var address: String { state.withLock { $0.baseURL.address } }

    func takeScript() -> ComponentScript {
        state.withLock { $0.scripts.isEmpty ? .submit() : $0.scripts.removeFirst() }
    }

    func takeSessionError() -> WorkflowError? {
        state.withLock { $0.sessionErrors.isEmpty ? nil : $0.sessionErrors.removeFirst() }
    }
}

/// The course of one component: what the camera sees and what the person does.
public struct ComponentScript: Sendable {
    enum Course: Sendable {
        case submit(picture: Data, video: Data, attempts: Int)
        case cancel
        case fail(WorkflowError)
    }

    let course: Course

    /// Takes every picture and video that is wanted, and ends the component.
    ///
    /// - Parameters:
    ///   - picture: the file of every picture, JPEG, PNG or HEIC; `nil` for a small PNG.
    ///   - video: the file of the video, MP4 or QuickTime; `nil` for one of 4.2 seconds without pictures.
    ///   - attempts: how often a picture is taken that the real-time feedback refuses, at least once.
    public static func submit(picture: Data? = nil, video: Data? = nil, attempts: Int = 3) -> Self {
        Self(
            course: .submit(
                picture: picture ?? Placeholder.picture, video: video ?? Placeholder.video, attempts: max(1, attempts)))
    }

    /// The person closes the component.
    public static let cancel = Self(course: .cancel)

    /// Ends the component with an error, in the mock environment only. Elsewhere the platform decides.
    public static func fail(_ error: WorkflowError) -> Self { Self(course: .fail(error)) }
}

/// Files for cameras that see nothing.
enum Placeholder {
    /// A gray PNG of one pixel.
    static let picture =
        Data(
            base64Encoded:
                "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==")
        ?? Data()

    /// An MP4 of 4.2 seconds without pictures.
    static let video: Data = {
        func number(_ value: UInt32) -> Data { withUnsafeBytes(of: value.bigEndian) { Data($0) } }
        func box(_ name: String, _ content: Data) -> Data {
            number(UInt32(8 + content.count)) + Data(name.utf8) + content
        }
        let header = [0, 0, 0, 1000, 4200].map { number($0) }.reduce(Data(), +) + Data(count: 80)
        return box("ftyp", Data("isom\0\0\0\0isom".utf8)) + box("moov", box("mvhd", header))
            + box("mdat", Data(count: 8))
    }()
}
