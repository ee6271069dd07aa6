import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import Testing

@testable import Server

@Suite struct EndWatchTests {
    @Test func aConnectionForgetsThoseWhoNoLongerWait() async throws {
        let channel = NIOAsyncTestingChannel()
        _ = try await channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1)).get()
        for _ in 0..<1000 {
            let watch = EndWatchHandler.Watch {}
            EndWatchHandler.add(watch, to: channel)
            EndWatchHandler.remove(watch, from: channel)
        }
        #expect(try await EndWatchHandler.count(on: channel) == 0)
        let ended = NIOLockedValueBox(0)
        for _ in 0..<3 { EndWatchHandler.add(.init { ended.withLockedValue { $0 += 1 } }, to: channel) }
        #expect(try await EndWatchHandler.count(on: channel) == 3)
        try await channel.close()
        #expect(ended.withLockedValue(\.self) == 3)
        EndWatchHandler.add(.init { ended.withLockedValue { $0 += 1 } }, to: channel)
        await channel.testingEventLoop.run()
        #expect(ended.withLockedValue(\.self) == 4, "it has ended already")
    }
}
