import Platform
import Testing

@testable import Server

/// The table of errors.
@Suite struct ErrorTableTests {
    @Test(arguments: PlatformError.Kind.ofOperations + PlatformError.Kind.ofRequests)
    func everyKindHasARow(kind: PlatformError.Kind) {
        #expect(ErrorTable.knows(kind), "\(kind.name)")
    }

    @Test func noTwoKindsShareAName() {
        let names = (PlatformError.Kind.ofOperations + PlatformError.Kind.ofRequests).map(\.name)
        #expect(Set(names).count == names.count)
    }
}
