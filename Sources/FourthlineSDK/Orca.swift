import ClientTransport
import Foundation

/// The entry point to App Components, by the names of the vendor's SDK [S].
///
/// ```swift
/// Orca
///     .workflowSession(validationCode: "IDV")
///     .configure(with: WorkflowConfig(networkEnvironment: .mock))
///     .start { result in … }
/// ```
///
/// Callbacks come on the main queue. In the mock environment nothing is sent; the others talk to the simulated platform at
/// ``FourthlineSimulation/baseURL`` [D component-client].
public enum Orca {
    /// Prepares a session of a workflow.
    ///
    /// - Parameter validationCode: the code that a back end created; any text in the mock environment.
    public static func workflowSession(validationCode: String) -> WorkflowSessionBuilder {
        WorkflowSessionBuilder(code: validationCode, config: WorkflowConfig(networkEnvironment: .production))
    }
}

/// The environment that a session talks to [S].
public enum NetworkEnvironment: String, CaseIterable, Sendable {
    case mock, sandbox, production
}

/// The configuration of a session [S].
public struct WorkflowConfig: Sendable {
    public var networkEnvironment: NetworkEnvironment

    public init(networkEnvironment: NetworkEnvironment) {
        self.networkEnvironment = networkEnvironment
    }
}

/// A session that can be configured and started [S].
public struct WorkflowSessionBuilder: Sendable {
    let code: String
    let config: WorkflowConfig

    /// Uses another configuration. Without one the environment is production.
    public func configure(with config: WorkflowConfig) -> Self { Self(code: code, config: config) }

    /// Starts the session. The completion is called once, on the main queue.
    public func start(_ completion: @escaping (Result<WorkflowSession, WorkflowError>) -> Void) {
        let simulation = FourthlineSimulation.current
        run(completion) {
            if let error = simulation.takeSessionError() { throw error }
            guard config.networkEnvironment != .mock else { return WorkflowSession(id: nil, simulation: simulation) }
            let body = ["validationCode": code, "networkEnvironment": config.networkEnvironment.rawValue]
            let answer = try await ComponentsClient(address: simulation.address).post(
                "/components/sessions", body, as: StartedSession.self)
            return WorkflowSession(id: answer.session_id, simulation: simulation)
        }
    }

    private struct StartedSession: Decodable {
        let session_id: String
    }
}

/// A session in which components run, one after the other [S].
public struct WorkflowSession: Sendable {
    /// The id on the simulated platform; `nil` in the mock environment.
    public let id: String?
    let simulation: FourthlineSimulation
    /// The names of the components of a mock session that have ended.
    let ended = Locked<Set<String>>([])

    /// The Document Component.
    public func documentComponent(with config: DocumentComponentConfig) -> DocumentComponent {
        DocumentComponent(session: self, config: config)
    }

    /// The Biometrics Component.
    public func biometricsComponent() -> BiometricsComponent { BiometricsComponent(session: self) }
}

/// The types of documents [S].
public enum DocumentType: String, CaseIterable, Sendable {
    case driversLicense, dutchDriversLicense, frenchIdCard, idCard, paperId, passport, proofOfAddress, residencePermit
    case tinReferenceDocument

    /// Whether it proves who a person is. Only such documents have an issuing country [S].
    var isPrimary: Bool { self != .proofOfAddress && self != .tinReferenceDocument }

    /// The sides that are photographed.
    var sides: [String] {
        switch self {
        case .passport, .proofOfAddress, .tinReferenceDocument: ["front"]
        default: ["front", "back"]
        }
    }
}

/// The document that the Document Component is for [S].
public struct DocumentComponentConfig: Sendable {
    public var type: DocumentType
    /// ISO 3166-1 alpha-3; `nil` for a proof of address and a TIN document.
    public var issuingCountry: String?

    public init(type: DocumentType, issuingCountry: String? = nil) {
        self.type = type
        self.issuingCountry = issuingCountry
    }
}

/// The Document Component, ready to be customized and presented [S].
public struct DocumentComponent: Sendable {
    let session: WorkflowSession
    let config: DocumentComponentConfig

    /// Takes the customization of the screens, which are not shown here.
    public func customize(with config: DocumentCustomizationConfig) -> Self { self }

    /// Runs the component as ``FourthlineSimulation/script(_:)`` says. The completion is called once, on the main queue.
    public func present(
        _ completion: @escaping (Result<DocumentComponentResult, WorkflowError>) -> Void
    ) {
        let script = session.simulation.takeScript()
        run(completion) { try await ComponentRun(session, script).document(config) }
    }
}

/// The Biometrics Component, ready to be customized and presented [S].
public struct BiometricsComponent: Sendable {
    let session: WorkflowSession

    /// Takes the customization of the screens, which are not shown here.
    public func customize(with config: SelfieCustomizationConfig) -> Self { self }

    /// Runs the component as ``FourthlineSimulation/script(_:)`` says. The completion is called once, on the main queue.
    public func present(
        _ completion: @escaping (Result<BiometricsComponentResult, WorkflowError>) -> Void
    ) {
        let script = session.simulation.takeScript()
        run(completion) { try await ComponentRun(session, script).biometrics() }
    }
}

/// Runs `body` and calls the completion with its result on the main queue.
private func run<Value: Sendable>(
    _ completion: @escaping (Result<Value, WorkflowError>) -> Void,
    _ body: @escaping @Sendable () async throws -> Value
) {
    // Called once, on the main queue, like every callback of the vendor's SDK. Apps pass closures that are not Sendable.
    nonisolated(unsafe) let completion = completion
    Task.detached {
        let result: Result<Value, WorkflowError>
        do {
            result = .success(try await body())
        } catch {
            result = .failure(error as? WorkflowError ?? .problem("\(error)"))
        }
        DispatchQueue.main.async { completion(result) }
    }
}
