import Testing

@testable import Entrupy
@testable import Simulation

@Suite struct GenerationTests {
    /// The process may be killed between any two jobs, so the counts must agree after each.
    @Test func afterEachJobAUserHasAsManySubmissionsAsItems() async throws {
        let bench = try NamespaceTests.Bench()
        let namespace = try await bench.open()
        let head = RequestHead(isControl: true)
        func counts() async throws -> (submissions: Int, items: Int) {
            let user = await namespace.answer(.success(ByID<ShowUser>(ItemTemplate.defaultUsername)), head)
            let items = await namespace.answer(.success(ListAuthentications(limit: 1000, cursor: nil)), head)
            return (try user.result.get().submissions, try items.result.get().authentications.count)
        }
        let template = try ItemTemplate(
            count: 3, username: nil, result: nil, reason: nil, flag: nil, item: ["brand": .string("Nike")])
        let generation = try await namespace.answer(.success(PlanGeneration(template: template)), head).result.get()
        #expect(try await counts() == (0, 0))
        let batch = GenerateBatch(generation: generation, from: 0)
        _ = try await namespace.answer(.success(batch), head).result.get()
        #expect(try await counts() == (3, 3))
    }

    @Test func aBatchThatWasPlannedBeforeAResetFails() async throws {
        let bench = try await RuleBench()
        let template = try ItemTemplate(count: 3, item: ["brand": "Nike"])
        let generation = try await bench.control(PlanGeneration(template: template))
        _ = try await bench.namespace.reset(RequestHead(isControl: true)).result.get()
        let batch = GenerateBatch(generation: generation, from: 0)
        #expect(await refusal { try await bench.control(batch) } == .wrongState)
        let items = try await bench.control(ListAuthentications(limit: 1, cursor: nil))
        #expect(items.authentications.isEmpty)
    }
}
