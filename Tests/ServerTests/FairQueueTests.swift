import Testing

@testable import Server

/// Slots that namespaces and their subscriptions share.
@Suite struct FairQueueTests {
    private static func queue() -> FairQueue<String> { FairQueue(maxRunning: 256, maxPerNamespace: 16) }

    /// Takes jobs until none may start, and returns them.
    private static func start(_ queue: inout FairQueue<String>) -> [String] {
        var started: [String] = []
        while let job = queue.takeNext() { started.append(job) }
        return started
    }

    @Test func aSubscriptionThatHangsLeavesSlotsToOthersOfItsNamespace() {
        var queue = Self.queue()
        for number in 0..<100 { queue.add("hanging \(number)", namespace: "a", subscription: "hanging") }
        #expect(Self.start(&queue).count == 8)
        #expect(queue.bound(namespace: "a", subscription: "hanging") == .subscription(running: 8))
        queue.add("healthy", namespace: "a", subscription: "healthy")
        #expect(Self.start(&queue) == ["healthy"])
    }

    @Test func aNamespaceHasAtMostSixteenSlots() {
        var queue = Self.queue()
        for subscription in 0..<20 {
            for number in 0..<20 { queue.add("\(number)", namespace: "a", subscription: "\(subscription)") }
        }
        #expect(Self.start(&queue).count == 16)
        #expect(queue.bound(namespace: "a", subscription: "19") == .namespace(running: 16))
        queue.end(namespace: "a", subscription: "0")
        #expect(Self.start(&queue).count == 1)
    }

    /// Thirty namespaces whose receivers all hang leave slots to the next one.
    @Test func hangingNamespacesLeaveSlotsToOthers() {
        var queue = Self.queue()
        for namespace in 0..<30 {
            for number in 0..<100 { queue.add("\(number)", namespace: "\(namespace)", subscription: "\(number % 20)") }
            _ = Self.start(&queue)
        }
        #expect(queue.running < 256)
        queue.add("healthy", namespace: "healthy", subscription: "one")
        #expect(Self.start(&queue) == ["healthy"])
        #expect(queue.bound(namespace: "0", subscription: "0") != nil)
    }

    @Test func waitingJobsAreTakenInTurns() {
        var queue = FairQueue<String>(maxRunning: 1, maxPerNamespace: 1)
        for number in 0..<3 {
            for namespace in ["a", "b"] { queue.add("\(namespace)\(number)", namespace: namespace, subscription: "s") }
        }
        var order: [String] = []
        while let job = queue.takeNext() {
            order.append(job)
            queue.end(namespace: String(job.prefix(1)), subscription: "s")
        }
        #expect(order == ["a0", "b0", "a1", "b1", "a2", "b2"])
        #expect(queue.namespaceCount == 0)
    }

    @Test func whatEndsLeavesNothingBehind() {
        var queue = Self.queue()
        for number in 0..<50 { queue.add("\(number)", namespace: "n\(number)", subscription: "s") }
        #expect(Self.start(&queue).count == 50)
        for number in 0..<50 { queue.end(namespace: "n\(number)", subscription: "s") }
        #expect(queue.namespaceCount == 0)
        #expect(queue.running == 0)
        queue.add("waits", namespace: "a", subscription: "s")
        #expect(queue.removeWaiting() == ["waits"])
        #expect(queue.namespaceCount == 0)
    }
}
