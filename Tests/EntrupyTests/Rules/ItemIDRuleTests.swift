import EntrupyAPI
import EntrupyStorage
import SimulationAPI
import Testing

@testable import Entrupy
@testable import Simulation
@testable import Storage

/// Ids of eight characters may repeat [D item-ids].
@Suite struct ItemIDRuleTests {
    /// The id that the counter of items gives next but `number` - 1.
    private func next(_ bench: RuleBench, _ number: Int64) async throws -> String {
        try await bench.job { job in
            job.state.generator.text(.item, counter: try job.transaction.counter(IDKind.item.name) + number)
        }
    }

    /// Gives an id to an item, a copy of another.
    private func occupy(_ bench: RuleBench, _ id: String, like original: String) async throws {
        var copy = try await bench.item(original)
        copy.entrupyID = id
        let item = copy
        _ = try await bench.job { try $0.transaction.insert(item) }
    }

    @Test func anIDThatAnItemHasIsSkipped() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let first = try await bench.submit(user, "a")
        let (second, third) = (try await next(bench, 1), try await next(bench, 2))
        let free = try await next(bench, 3)
        for id in [second, third] { try await occupy(bench, id, like: first) }
        #expect(try await bench.submit(user, "b") == free)
        // In a batch too: the first of three is taken, and the counter goes on behind the batch.
        let taken = try await next(bench, 1)
        try await occupy(bench, taken, like: first)
        let others = [try await next(bench, 2), try await next(bench, 3), try await next(bench, 4)]
        let made = await bench.namespace.generateItems(
            Result { try ItemTemplate(count: 3, item: [:]) }.mapError { $0 as! PlatformError },
            RequestHead(isControl: true))
        #expect(try made.result.get().entrupy_ids == [others[2], others[0], others[1]])
        #expect(Set([first, second, third, free, taken] + others).count == 8)
    }
}
