import SimulationAPI
import Storage

/// A state that a comparison names: the present one of a namespace, or one that was saved.
package enum ComparedName: Sendable, Hashable {
    /// The namespace of the request's path, as it is now.
    case now
    case namespace(String)
    /// A snapshot of the path's namespace.
    case snapshot(String)

    /// - Returns: `nil` if the text has none of the forms.
    init?(_ text: String) {
        let parts = text.split(at: ":", maxSplits: 1, omittingEmpty: false).map { String($0) }
        switch (parts[0], parts.count) {
        case ("now", 1): self = .now
        case ("namespace", 2) where Namespaces.isName(parts[1]): self = .namespace(parts[1])
        case ("snapshot", 2):
            // No snapshot has a name that is not valid.
            guard (try? SnapshotName.check(parts[1])) != nil else { return nil }
            self = .snapshot(parts[1])
        default: return nil
        }
    }
}

/// The question of `GET /_sim/diff`.
package struct ComparedNames: Sendable {
    let from: ComparedName
    let to: ComparedName
}

extension ComparedNames {
    package init(_ input: some RequestInput) throws {
        var query = input.query
        func read(_ key: String) -> ComparedName? {
            query.require(key)
            // An empty one is reported already.
            guard let text = query.text(key), !text.isEmpty else { return nil }
            let name = ComparedName(text)
            if name == nil {
                query.report(key, "must be now, namespace:NAME or snapshot:NAME, got \"\(text.excerpt)\"")
            }
            return name
        }
        let (from, to) = (read("from"), read("to"))
        try query.finish()
        self.init(from: from ?? .now, to: to ?? .now)
    }
}

extension Namespaces {
    /// Compares two states [D diff]. A namespace is read as a snapshot is saved: on a connection of its own, or from a copy in memory,
    /// while its jobs go on. One comparison runs at a time, so that copies do not add up.
    ///
    /// - Parameter namespace: the namespace of the request's path.
    package func difference(
        _ names: ComparedNames, of namespace: Namespace, _ head: RequestHead
    ) async -> Completed<StateDifference> {
        await namespace.runLongOperation(head) { [self] in
            let compared: Result<StateDifference, any Error> = await environment.comparisons.run {
                do {
                    return .success(try await self.compare(names, namespace))
                } catch {
                    return .failure(error)
                }
            }
            return try compared.get()
        }
    }

    private func compare(_ names: ComparedNames, _ namespace: Namespace) async throws -> StateDifference {
        let from = try await fixed(names.from, namespace)
        defer { from.close() }
        let to = try await fixed(names.to, namespace)
        defer { to.close() }
        let comparison = StateComparison(platforms: environment.platforms, secrets: environment.secrets)
        return try await environment.copying { try comparison.difference(from: from, to: to) }
    }

    private func fixed(_ name: ComparedName, _ namespace: Namespace) async throws -> FixedState {
        switch name {
        case .now: return .copy(try await namespace.copied().0)
        case .namespace(let name):
            guard let other = try await useExisting(name) else {
                let guess = FieldReader.guess(name, try await allInOrder().map(\.name))
                throw PlatformError.notFound(
                    "there is no namespace \"\(name)\"; \(guess)GET /_sim/namespaces lists them")
            }
            defer { other.endUse() }
            return .copy(try await other.copied().0)
        case .snapshot(let name):
            let snapshot = try await namespace.snapshot(name)
            let migrations = environment.platforms.migrations
            guard try await environment.copying({ try snapshot.read { try $0.hasSchema(migrations) } }) else {
                throw PlatformError.wrongState(
                    "the snapshot \"\(name)\" was saved by another version of entrupy-sim; fork it, and compare that namespace"
                )
            }
            return .snapshot(snapshot)
        }
    }
}
