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
        // More callers than the resolver has threads; they share one look-up.
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    do {
                        _ = try await resolver.addresses(
                            of: "silent.example", within: .milliseconds(50), for: "default")
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
        // The name is still being looked up, and other names are not delayed.
        let found = try await resolver.addresses(of: "fast.example", within: .minutes(5), for: "default")
        #expect(found.addresses == ["127.0.0.1"])
        end.signal()
        resolver.stop()
    }

    /// One namespace with names that no server knows takes half of the threads, so the names of another are looked up.
    @Test func namesOfOneNamespaceDoNotDelayThoseOfAnother() async throws {
        let end = DispatchSemaphore(value: 0)
        let resolver = Resolver { host in
            if host.hasPrefix("silent") { end.wait() }
            return ["127.0.0.1"]
        }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                group.addTask {
                    _ = try? await resolver.addresses(of: "silent\(number)", within: .minutes(5), for: "a")
                }
            }
            group.addTask {
                let found = try? await resolver.addresses(of: "fast.example", within: .minutes(5), for: "b")
                #expect(found?.addresses == ["127.0.0.1"])
                for _ in 0..<40 { end.signal() }
            }
        }
        resolver.stop()
    }
}
