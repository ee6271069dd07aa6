import DequeModule

/// Jobs that wait for one of a bounded number of slots, which namespaces and their subscriptions share fairly.
///
/// A namespace may hold an eighth of the free slots, and never more than its own maximum; a subscription as many as are free
/// in its namespace. So few who hold their slots for long never take the last ones: the job of another finds a free slot.
/// Among those that wait, the namespace with the fewest running jobs is next, then the subscription with the fewest, in turns.
///
/// Adding a job and taking the next one cost constant time, apart from the number of slots of a namespace.
struct FairQueue<Job: Sendable>: Sendable {
    /// The bound that holds a waiting job back.
    enum Bound: Equatable, Sendable {
        case subscription(running: Int)
        case namespace(running: Int)
        case server(running: Int)
    }

    fileprivate struct Subscription {
        var running = 0
        var waiting: Deque<Job> = []
    }

    fileprivate struct Group {
        var running = 0
        var waitingCount = 0
        var subscriptions: [String: Subscription] = [:]
        var lines = LeastBusyLine<String>()
    }

    /// The maximum number of running jobs, and the maximum for one namespace.
    let maxRunning: Int
    let maxPerNamespace: Int
    /// The part of the free slots that one namespace may hold.
    private static var share: Int { 8 }
    private(set) var running = 0
    private var groups: [String: Group] = [:]
    private var lines = LeastBusyLine<String>()

    init(maxRunning: Int, maxPerNamespace: Int) {
        self.maxRunning = maxRunning
        self.maxPerNamespace = maxPerNamespace
    }

    /// The number of namespaces with jobs; for tests.
    var namespaceCount: Int { groups.count }

    mutating func add(_ job: Job, namespace: String, subscription: String) {
        update(namespace, subscription) { group, entry in
            entry.waiting.append(job)
            group.waitingCount += 1
        }
    }

    /// Removes the next job that may run and gives it a slot; `nil` if none may.
    mutating func takeNext() -> Job? {
        guard let (namespace, running) = lines.first, running * Self.share < maxRunning - self.running,
            let subscription = groups[namespace]?.lines.first?.key
        else { return nil }
        var job: Job?
        self.running += 1
        update(namespace, subscription) { group, entry in
            job = entry.waiting.popFirst()
            entry.running += 1
            group.running += 1
            group.waitingCount -= 1
        }
        return job
    }

    mutating func end(namespace: String, subscription: String) {
        running -= 1
        update(namespace, subscription) { group, entry in
            entry.running -= 1
            group.running -= 1
        }
    }

    mutating func removeWaiting() -> [Job] {
        var jobs: [Job] = []
        for (namespace, group) in groups where group.waitingCount > 0 {
            for (name, entry) in group.subscriptions where !entry.waiting.isEmpty {
                update(namespace, name) { group, entry in
                    jobs += entry.waiting
                    group.waitingCount -= entry.waiting.count
                    entry.waiting = []
                }
            }
        }
        return jobs
    }

    /// The bound that holds the jobs of a subscription back; `nil` if none waits.
    func bound(namespace: String, subscription: String) -> Bound? {
        guard let group = groups[namespace], let entry = group.subscriptions[subscription], !entry.waiting.isEmpty
        else {
            return nil
        }
        if group.running >= maxPerNamespace { return .namespace(running: group.running) }
        if entry.running >= maxPerNamespace - group.running { return .subscription(running: entry.running) }
        return .server(running: running)
    }

    private mutating func update(
        _ namespace: String, _ name: String, _ change: (inout Group, inout Subscription) -> Void
    ) {
        // Taken out while it changes, so that its queues are not copied.
        var group = groups.removeValue(forKey: namespace) ?? Group()
        var entry = group.subscriptions.removeValue(forKey: name) ?? Subscription()
        change(&group, &entry)
        group.lines.set(name, running: entry.waiting.isEmpty ? nil : entry.running)
        if entry.running > 0 || !entry.waiting.isEmpty { group.subscriptions[name] = entry }
        let mayStart = group.lines.first.map { $0.running < maxPerNamespace - group.running } ?? false
        lines.set(namespace, running: mayStart ? group.running : nil)
        if group.running > 0 || group.waitingCount > 0 { groups[namespace] = group }
    }
}

/// Keys in the order in which they are next: by the number of their running jobs, then by the time of their last change.
///
/// A key that changes leaves its old entry behind, which is dropped when it comes to the front. So a change costs constant
/// time, and the entries are at most twice as many as the keys, as ``set(_:running:)`` sees to by dropping old ones.
struct LeastBusyLine<Key: Hashable & Sendable>: Sendable {
    private var entries: [Deque<(key: Key, stamp: Int)>] = []
    private var current: [Key: (stamp: Int, running: Int)] = [:]
    private var entryCount = 0
    private var nextStamp = 0

    /// The next key and the number of its running jobs.
    private(set) var first: (key: Key, running: Int)?

    /// Puts a key at the end of those with as many running jobs. `nil` removes it.
    mutating func set(_ key: Key, running: Int?) {
        if let running {
            nextStamp += 1
            current[key] = (nextStamp, running)
            while entries.count <= running { entries.append([]) }
            entries[running].append((key, nextStamp))
            entryCount += 1
            if entryCount > 2 * current.count + 16 { dropOldEntries() }
        } else {
            current[key] = nil
        }
        findFirst()
    }

    private mutating func findFirst() {
        for running in entries.indices {
            while let entry = entries[running].first {
                if current[entry.key]?.stamp == entry.stamp {
                    first = (entry.key, running)
                    return
                }
                entries[running].removeFirst()
                entryCount -= 1
            }
        }
        first = nil
    }

    private mutating func dropOldEntries() {
        for running in entries.indices {
            entries[running].removeAll { current[$0.key]?.stamp != $0.stamp }
        }
        entryCount = current.count
    }
}
