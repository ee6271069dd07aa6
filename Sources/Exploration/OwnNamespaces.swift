import SimulationAPI

/// The namespaces that a command makes itself, beside that of its run. The server does not say which command made one, so they can be told
/// apart only while one command runs at a time.
struct OwnNamespaces {
    let control: any SweepControl

    /// The namespaces that are there beside others, settled, by name.
    func found(besides others: Set<String>) async throws -> [String] {
        let names = try await names(besides: others)
        for name in names { try await control.settle(name) }
        return names
    }

    func drop(besides others: Set<String>) async throws {
        for name in try await names(besides: others) { try await control.drop(name) }
    }

    private func names(besides others: Set<String>) async throws -> [String] {
        try await control.namespaces().filter { $0 != "default" && !others.contains($0) }
    }

    /// Moves the namespaces of a run without a fault out of the way of later runs, and saves their ends.
    ///
    /// - Returns: the places of the copies by name.
    func moved(_ names: [String], of run: String, savedAs snapshot: String) async throws -> [String: String] {
        var copies: [String: String] = [:]
        for (index, name) in names.enumerated() {
            let copy = "\(run)-own-\(index + 1)"
            try await control.move(name, to: copy)
            try await control.save(copy, as: snapshot)
            copies[name] = copy
        }
        return copies
    }

    /// The differences of a run's own namespaces from those of the run without a fault.
    ///
    /// - Parameter usual: the places of the copies by name.
    func difference(_ usual: [String: String], savedAs snapshot: String, to names: [String]) async throws
        -> StateDifference
    {
        let (pairs, missing, more) = Self.paired(usual.keys.sorted(), names)
        var whole = StateDifference(
            objects: missing.map { Self.object($0, .removed) } + more.map { Self.object($0, .added) }, ignored: [],
            truncated: false)
        for (name, other) in pairs {
            guard let copy = usual[name] else { continue }
            whole.add(try await control.difference(from: snapshot, of: copy, to: other))
        }
        return whole
    }

    /// The names of two runs that are the same namespace: equal ones, and the only other one of each, whose name may be random.
    static func paired(
        _ usual: [String], _ found: [String]
    ) -> (pairs: [(String, String)], missing: [String], more: [String]) {
        let equal = usual.filter(found.contains)
        let (missing, more) = (usual.filter { !equal.contains($0) }, found.filter { !equal.contains($0) })
        let pairs = equal.map { ($0, $0) }
        return missing.count == 1 && more.count == 1
            ? (pairs + [(missing[0], more[0])], [], []) : (pairs, missing, more)
    }

    /// Whether an object is a namespace that one of the runs has alone.
    static func isWhole(_ object: ObjectDifference) -> Bool { object.kind == "namespace" && object.change != .changed }

    private static func object(_ name: String, _ change: ObjectDifference.Change) -> ObjectDifference {
        ObjectDifference(kind: "namespace", key: ["name": .string(name)], change: change, members: [])
    }
}

extension StateDifference {
    /// Adds the objects of another namespace.
    mutating func add(_ other: StateDifference) {
        objects += other.objects
        truncated = truncated || other.truncated
        equal = objects.isEmpty && !truncated
    }
}
