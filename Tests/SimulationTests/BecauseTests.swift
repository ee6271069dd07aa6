import Testing

@testable import Simulation

@Suite struct BecauseTests {
    @Test(arguments: [(1, 1), (399, 399), (400, 400), (401, 400), (100_000, 400)])
    func aFactIsBoundedInLength(length: Int, kept: Int) {
        let fact = String(repeating: "é", count: length)
        let because = PlatformError.notFound("no", because: Because(fact)).because ?? ""
        #expect(because.unicodeScalars.count == kept && because.hasSuffix(length > 400 ? "…" : "é"))
    }
}
