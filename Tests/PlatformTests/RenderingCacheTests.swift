import NIOCore
import Testing

@testable import Platform

@Suite struct RenderingCacheTests {
    private func key(_ position: Int64) -> RenderingCache.Key {
        RenderingCache.Key(state: 1, position: position, revision: 1, settings: 0, form: .sdk, language: .japanese)
    }

    @Test func whatIsAskedForStaysAndTheRestGoes() {
        let cache = RenderingCache(bytes: 2000)
        for position in 0..<100 {
            cache[key(Int64(position))] = ByteBuffer(repeating: 0, count: 100)
            #expect(cache[key(0)] != nil, "it is in constant use")
        }
        #expect(cache.count <= 22)
        #expect(cache[key(99)] != nil)
        #expect(cache[key(50)] == nil)
    }
}
