import EntrupyAPI
import Evidence
import HTTPTypes
import Resources
import Simulation
import SimulationAPI

extension EdgeTable {
    /// The documented edges of the platforms that this server simulates.
    static let simulated = EdgeTable(axes(of: .simulated), commands: commands)

    private static func axes(of platforms: Platforms) -> [DocumentedAxis] {
        [answers(ofFaults: platforms.all.flatMap(\.evidence.answersOfFaults)), errorsOfSDK]
            + platforms.all.flatMap { $0.evidence.axes() } + EdgeTable.ofEngine(platforms)
    }

    /// The commands that `make generate` makes of `openapi/meet-with.yaml`: a line for each edge, with its axis and its name.
    @Sendable static func commands() -> [Coverage.Name: String] {
        let lines = Resource.text("openapi/meet-with.txt").split(at: "\n").map { $0.split(at: "\t").map(String.init) }
        return Dictionary(uniqueKeysWithValues: lines.map { (Coverage.Name($0[0], $0[1]), $0[2]) })
    }

    /// The statuses that a healthy server does not answer [D coverage].
    static let faultOnly = [500, 503, 504]

    /// - Parameter ofFaults: further answers that only a fault gives.
    private static func answers(ofFaults: [String]) -> DocumentedAxis {
        let edges = DescribedAnswers.all.flatMap { operation in
            operation.statuses.map { status in
                let id = "\(operation.method) \(operation.path) \(status)"
                return DocumentedEdge(id, isFaultOnly: faultOnly.contains(status) || ofFaults.contains(id))
            }
        }
        return DocumentedAxis(answers, "Routes and statuses", edges)
    }

    /// The errors that answers name. The other ones of the SDK come from the device alone.
    private static var errorsOfSDK: DocumentedAxis {
        let edges = SDKErrorCode.allCases.compactMap { code -> DocumentedEdge? in
            let statuses = ErrorTable.statuses(of: code)
            return statuses.isEmpty
                ? nil : DocumentedEdge("\(code)", isFaultOnly: statuses.allSatisfy { faultOnly.contains($0) })
        }
        return DocumentedAxis(sdkErrors, "Errors of Entrupy's SDK", edges)
    }

    /// The edges of an operation's answers; `nil` if it is not a documented one.
    func answers(_ method: HTTPRequest.Method, _ path: String) -> AnswerEdges? {
        DescribedAnswers.statuses(method.rawValue, path).map { statuses in
            let edges = statuses.compactMap { status in
                number(Coverage.Name(Self.answers, "\(method.rawValue) \(path) \(status)")).map { (status, $0) }
            }
            return AnswerEdges(edges: edges)
        }
    }
}
