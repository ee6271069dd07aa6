import Testing

@testable import Simulation

/// The memory of the bodies of requests that wait [D body-sizes].
@Suite struct BodyMemoryTests {
    @Test func bodiesTakeMemoryUntilTheirRequestsAreAnswered() throws {
        let memory = BodyMemory()
        var shares = [try memory.take(values: 1000, text: 1_000_000)]
        #expect(memory.usedBytes == 1_128_000 && shares[0].bytes == 1_128_000)
        shares.append(try memory.take(values: 1, text: 0))
        #expect(memory.usedBytes == 1_128_128)
        shares = []
        #expect(memory.usedBytes == 0)
    }

    @Test func aFurtherBodyIsRefused() throws {
        let memory = BodyMemory()
        let first = try memory.take(values: 499_999, text: 0)
        let second = try memory.take(values: 1, text: 0)
        let refusal = #expect(throws: PlatformError.self) { try memory.take(values: 0, text: 1) }
        #expect(refusal?.kind == .unavailable && refusal?.message.contains("64 MB") == true)
        #expect(memory.usedBytes == 64_000_000)
        withExtendedLifetime((first, second)) {}
    }

    /// It harms nobody, and would be refused for ever.
    @Test func aLargeBodyAloneIsTaken() throws {
        let memory = BodyMemory()
        let share = try memory.take(values: 1_000_000, text: 0)
        #expect(memory.usedBytes == share.bytes)
    }
}
