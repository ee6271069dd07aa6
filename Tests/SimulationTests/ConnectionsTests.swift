import NIOConcurrencyHelpers
import Testing

@testable import Simulation

@Suite struct ConnectionsTests {
    @Test func theLeastRecentlyUsedDatabaseIsClosed() {
        let connections = Connections(maxOpen: 3)
        let aside = NIOLockedValueBox<[String]>([])
        connections.setCloser { name in aside.withLockedValue { $0.append(name) } }
        for name in ["a", "b", "c", "a", "d", "e", "b"] { connections.used(name) }
        #expect(aside.withLockedValue { $0 } == ["b", "c", "a"])
        #expect(connections.count == 3)
        connections.forget("d")
        connections.used("f")
        #expect(aside.withLockedValue { $0 }.count == 3, "a connection was free")
        connections.forget("f")
        connections.used("f")
        #expect(connections.count == 3, "the one that was used last opens again")
    }
}
