import Foundation
import SimulationAPI
import Testing

// What the server says of the requests of a test.
extension TestWorld {
    package func audit(_ query: String = "") async throws -> AuditReport {
        let answer = try await send("GET", "/_sim/audit\(query)")
        try #require(answer.status == 200, "\(answer.json)")
        return try WireJSON.decode(AuditReport.self, from: answer.body)
    }

    /// The findings of a rule.
    package func findings(_ rule: String) async throws -> [AuditReport.Finding] {
        try await audit("?rule=\(rule)").findings
    }

    /// The number of the newest request.
    package func lastRequest() async throws -> Int64 {
        let answer = try await send("GET", "/_sim/requests?limit=1")
        return Int64(try #require(answer["requests.0.sequence"].integer))
    }

    /// The explanation of an object, in which each step must come once, and after those that it follows from.
    package func explain(_ id: String) async throws -> Explanation {
        let answer = try await send("GET", "/_sim/explain/\(id)")
        try #require(answer.status == 200, "\(answer.json)")
        let explanation = try WireJSON.decode(Explanation.self, from: answer.body)
        var before: Set<String> = []
        for step in explanation.steps {
            #expect(before.isSuperset(of: step.causes), "\(step.id) comes before what it follows from")
            #expect(before.insert(step.id).inserted, "\(step.id) is there twice")
        }
        return explanation
    }

    /// The explanation of the last request, whose answer must have a status.
    package func chain(_ status: Int) async throws -> Explanation {
        let last = try await send("GET", "/_sim/requests?limit=1")["requests.0"]
        try #require(last["status"].integer == status, "\(last)")
        return try await explain("sequence:\(last["sequence"].integer ?? 0)")
    }

    /// The coverage of the namespace.
    package func coverage() async throws -> Coverage {
        let answer = try await send("GET", "/_sim/coverage")
        try #require(answer.status == 200, "\(answer.json)")
        return try WireJSON.decode(Coverage.self, from: answer.body)
    }

    /// An edge of the namespace's coverage.
    package func edge(_ axis: String, _ id: String) async throws -> Coverage.Edge {
        try #require(try await coverage().edge(axis, id), "there is no edge \(axis): \(id)")
    }

    /// Adds a fault rule; answers its id.
    @discardableResult package func fault(
        _ route: String, _ effect: JSONValue, times: JSONValue = .null, _ match: JSONObject = [:]
    ) async throws -> String {
        let condition = (["route": .string(route)] as JSONObject).merging(match) { $1 }
        let answer = try await send(
            "POST", "/_sim/faults", ["match": .object(condition), "effect": effect, "times": times])
        try #require(answer.status == 201, "\(answer.json)")
        return try #require(answer["id"].text)
    }
}

extension Explanation {
    /// The kinds of the steps, of events the kinds of those, of requests the method, the last component of the path and the status.
    package var names: [String] {
        steps.map { step in
            let words = step.text.components(separatedBy: " ")
            switch step.kind {
            case .request:
                let status = step.text.components(separatedBy: " -> ").last?.prefix(3) ?? ""
                return "\(words[0]) \(words[1].components(separatedBy: "/").last ?? "") \(status)"
            case .event: return words[0]
            case .control: return step.text
            default: return step.kind.rawValue
            }
        }
    }
}
