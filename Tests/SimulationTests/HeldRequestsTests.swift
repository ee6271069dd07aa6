import NIOConcurrencyHelpers
import SimulationAPI
import Testing

@testable import Simulation

/// The list of held requests, and its bounds [D hold].
@Suite struct HeldRequestsTests {
    private func make(
        _ number: Int, in namespace: String = "default", generation: Int = 1, bytes: Int = 0, after: Bool = false
    ) throws -> HeldRequest {
        var fields = FieldReader(["hold": ["when": after ? "after" : "before"]], known: ["hold"])
        let hold = Hold(&fields, "hold")
        try fields.finish()
        return HeldRequest(
            HeldInfo(
                id: "hld_\(number)",
                request: .init(
                    id: "req_\(number)", sequence: Int64(number), method: "GET", path: "/parcels", username: nil,
                    test: nil, trace: nil),
                when: hold.moment.rawValue, since: 0, until: 0),
            hold, faultID: "flt_1", in: namespace, generation: generation, bytes: bytes)
    }

    @Test func aServerHoldsAThousandRequests() throws {
        let requests = HeldRequests()
        for number in 0..<1000 { #expect(requests.add(try make(number, in: "ns-\(number / 100)")) == nil) }
        #expect(requests.add(try make(1000, in: "ns-0")) == .namespace)
        #expect(requests.add(try make(1000, in: "another")) == .server)
        requests.releaseAll(of: "ns-3")
        #expect(requests.add(try make(1000, in: "another")) == nil)
        #expect(requests.total.count == 901)
    }

    @Test func theirMemoryIsBounded() throws {
        let requests = HeldRequests()
        let held = try make(1, bytes: 200_000_000, after: true)
        #expect(requests.add(held) == nil)
        #expect(requests.add(try make(2, bytes: 56_000_001)) == .bytes)
        #expect(requests.add(try make(3, bytes: 56_000_000)) == nil)
        #expect(!requests.grow(held, by: 1), "an answer counts too")
        requests.releaseAll(of: "default")
        #expect(requests.grow(held, by: 1), "it has ended, so it is sent at once")
        #expect(requests.total == (0, 0))
    }

    @Test func anAnswerThatIsKeptTakesItsMemoryUntilItsEnd() throws {
        var limits = HoldLimits()
        limits.bytes = 100
        let requests = HeldRequests(limits)
        let held = try make(1, bytes: 10, after: true)
        #expect(requests.add(held) == nil)
        #expect(requests.grow(held, by: 90))
        #expect(requests.total == (1, 100))
        _ = requests.end(held, after: .timeOver)
        #expect(requests.total == (0, 0))
    }

    @Test func theFirstEndCounts() async throws {
        let requests = HeldRequests()
        let held = try make(1)
        #expect(requests.add(held) == nil)
        _ = try requests.release("hld_1", of: "default", as: .dropped)
        #expect(await held.wait(nil) == .ended)
        guard case .dropped = requests.end(held, after: .timeOver) else {
            Issue.record("the release came first")
            return
        }
        #expect(held.isLost)
    }

    @Test func aClientThatHasGoneIsNotHandledAlthoughItWasReleased() throws {
        let requests = HeldRequests()
        let held = try make(1)
        #expect(requests.add(held) == nil)
        _ = try requests.release("hld_1", of: "default", as: .released)
        guard case .clientGone = requests.end(held, after: .clientGone) else {
            Issue.record("nobody waits for it")
            return
        }
        #expect(held.isLost)
    }

    /// The name of a deleted namespace may be another one's at once.
    @Test func onlyTheRequestsToAnEarlierStateEndWithIt() throws {
        let requests = HeldRequests()
        let (old, new) = (try make(1, generation: 1), try make(2, generation: 3))
        #expect(requests.add(old) == nil)
        #expect(requests.add(new) == nil)
        requests.endHolds(of: "default", before: 2)
        guard case .replaced = old.end else {
            Issue.record("its state is gone")
            return
        }
        #expect(new.end == nil)
        #expect(requests.list(of: "default").map(\.info.id) == ["hld_2"])
    }

    @Test func aServerThatStopsHoldsNoFurtherRequest() async throws {
        let requests = HeldRequests()
        let held = try make(1)
        #expect(requests.add(held) == nil)
        requests.stop()
        #expect(await held.wait(nil) == .stopping)
        #expect(requests.add(try make(2)) == .stopping)
    }

    @Test func onlySoManyEndsAreRemembered() throws {
        let requests = HeldRequests()
        for number in 0...1000 {
            let held = try make(number)
            #expect(requests.add(held) == nil)
            _ = requests.end(held, after: .timeOver)
        }
        func kind(_ id: String) -> PlatformError.Kind? {
            do {
                _ = try requests.release(id, of: "default", as: .released)
                return nil
            } catch {
                return (error as? PlatformError)?.kind
            }
        }
        #expect(kind("hld_0") == .notFound)
        #expect(kind("hld_1") == .wrongState)
    }
}
