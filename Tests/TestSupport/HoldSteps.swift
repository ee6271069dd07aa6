import Foundation
import SimulationAPI
import Testing

/// The steps of tests about requests that a fault holds.
package protocol HoldSteps {}

extension HoldSteps {
    @discardableResult
    package func hold(
        _ world: TestWorld, _ route: String, _ effect: JSONValue = true, times: JSONValue = 1
    ) async throws -> String {
        let rule: JSONValue = ["match": ["route": .string(route)], "effect": ["hold": effect], "times": times]
        let answer = try await world.send("POST", "/_sim/faults", rule)
        try #require(answer.status == 201, "\(answer.json)")
        return try #require(answer["id"].text)
    }

    /// Waits until so many requests are held.
    package func held(_ world: TestWorld, count: Int = 1) async throws -> [JSONValue] {
        while true {
            let list = try await world.send("GET", "/_sim/held")["held"].items
            if list.count >= count { return list }
            await Task.yield()
        }
    }

    package func release(_ world: TestWorld, _ held: JSONValue, _ body: JSONValue? = nil) async throws
        -> TestWorld.Answer
    {
        try await world.send("POST", "/_sim/held/\(held["id"].text ?? "")/release", body)
    }

    /// Waits until the journal has the request of a hold that has ended.
    package func entry(_ world: TestWorld, _ held: JSONValue) async throws -> JSONValue {
        let number = held["request.sequence"].integer ?? 0
        while true {
            let answer = try await world.send("GET", "/_sim/requests/sequence:\(number)")
            if answer.status == 200 { return answer.json }
            await Task.yield()
        }
    }
}
