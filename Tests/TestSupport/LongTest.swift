public import Testing

/// Runs a test of many steps at a high priority. All tests start at once, and each step of a test waits for its turn among them.
/// Without this trait a long test ends long after all others, alone on its core.
public struct LongTest: TestTrait, SuiteTrait, TestScoping {
    public let isRecursive = true

    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await withoutActuallyEscaping(function) { function in
            try await Task(priority: .high) { try await function() }.value
        }
    }
}

extension Trait where Self == LongTest {
    /// The test has many steps.
    public static var long: LongTest { LongTest() }
}
