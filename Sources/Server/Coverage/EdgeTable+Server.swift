import EntrupyAPI
import Evidence
import HTTPTypes
import Simulation

extension EdgeTable {
    /// The documented edges of the platforms that this server simulates.
    static let simulated = EdgeTable(axes(of: .simulated))

    private static func axes(of platforms: Platforms) -> [DocumentedAxis] {
        let lines = AnswerLines(platforms)
        return [answers(lines, platforms.all.flatMap(\.evidence.answersOfFaults)), sdkErrors(lines)]
            + platforms.all.flatMap { $0.evidence.axes() } + EdgeTable.ofEngine(platforms)
    }

    /// The statuses that a healthy server does not answer [D coverage].
    static let faultOnly = [500, 503, 504]

    /// - Parameter ofFaults: further answers that only a fault gives.
    private static func answers(_ lines: AnswerLines, _ ofFaults: [String]) -> DocumentedAxis {
        let edges = DescribedAnswers.all.flatMap { operation in
            operation.statuses.map { status in
                let id = "\(operation.method) \(operation.path) \(status)"
                return DocumentedEdge(
                    id, isFaultOnly: faultOnly.contains(status) || ofFaults.contains(id),
                    meetWith: lines.line(operation, status))
            }
        }
        return DocumentedAxis(answers, "Routes and statuses", edges)
    }

    /// The errors that answers name. The other ones of the SDK come from the device alone.
    private static func sdkErrors(_ lines: AnswerLines) -> DocumentedAxis {
        let edges = SDKErrorCode.allCases.compactMap { code -> DocumentedEdge? in
            let statuses = ErrorTable.statuses(of: code)
            guard let status = statuses.first(where: { !faultOnly.contains($0) }) ?? statuses.first else { return nil }
            return DocumentedEdge(
                "\(code)", isFaultOnly: statuses.allSatisfy { faultOnly.contains($0) },
                meetWith: lines.line(ofSDKError: code, status))
        }
        return DocumentedAxis(sdkErrors, "Errors of Entrupy's SDK", edges)
    }

    /// The edges of an operation's answers; `nil` if it is not a documented one.
    func answers(_ method: HTTPRequest.Method, _ path: String) -> AnswerEdges? {
        let edges = DescribedAnswers.all.first { $0.method == method.rawValue && $0.path == path }?.statuses.compactMap
        {
            status in
            number(Self.answers, "\(method.rawValue) \(path) \(status)").map { (status, $0) }
        }
        return edges.map { AnswerEdges(edges: $0) }
    }
}
