import Foundation
import NIOCore
import Testing

@testable import Server

@Suite struct ResolverTests {
    /// A name server that does not answer: lookups block until the test ends.
    @Test func aSilentNameServerEndsAttemptsAtTheirDeadline() async throws {
        let end = DispatchSemaphore(value: 0)
        let resolver = Resolver { host in
            guard host == "silent.example" else { return ["127.0.0.1"] }
            end.wait()
            return ["127.0.0.1"]
        }
        // More than the resolver has threads.
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    do {
                        _ = try await resolver.addresses(of: "silent.example", until: .now() + .milliseconds(50))
                        return false
                    } catch let error as Resolver.Failed {
                        return error.text == "silent.example cannot be resolved: no name server answered in time"
                    } catch {
                        return false
                    }
                }
            }
            for await failed in group { #expect(failed) }
        }
        for _ in 0..<20 { end.signal() }
        // The threads are free again, and attempts whose time was over have not taken them.
        #expect(try await resolver.addresses(of: "fast.example", until: .now() + .minutes(5)) == ["127.0.0.1"])
        resolver.stop()
    }
}
