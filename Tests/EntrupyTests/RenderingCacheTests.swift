import EntrupyAPI
import NIOCore
import Testing

@testable import Entrupy
@testable import Simulation

@Suite struct RenderingCacheTests {
    private func key(_ position: Int64) -> RenderingCache.Key {
        RenderingCache.Key(
            state: 1, position: position, revision: 1, settings: 0, form: .sdk, language: .japanese, address: nil)
    }

    @Test func recentlyReadRenderingsStayInTheCache() {
        let cache = RenderingCache(bytes: 2000)
        for position in 0..<100 {
            cache[key(Int64(position))] = ByteBuffer(repeating: 0, count: 100)
            #expect(cache[key(0)] != nil, "it is in constant use")
        }
        #expect(cache.count <= 22)
        #expect(cache[key(99)] != nil)
        #expect(cache[key(50)] == nil)
    }

    @Test func aRenderingIsStoredAfterItsFirstReadAndNotAfterAChange() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let id = try await bench.submit(user, "sim-authentic-after-0s")
        func isStored() async throws -> Bool {
            try await bench.job { job in
                let found = try job.transaction.foundItem(entrupyID: id, key: job.renderingKey)
                return try #require(found).rendering != nil
            }
        }
        #expect(try await !isStored())
        _ = try await bench.user(ShowResult(id), user)
        // The job that stores it comes before this one.
        #expect(try await isStored())
        _ = try await bench.user(SetFlag(entrupyID: id, request: SetFlagRequest(flag: true)), user)
        #expect(try await !isStored())
    }
}
