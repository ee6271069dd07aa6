import Foundation
import SimulationAPI
import Storage

/// The rules for snapshot names.
package enum SnapshotName {
    /// - Throws: ``PlatformError`` if the name is not valid.
    package static func check(_ name: String, field: String = "name") throws {
        let isGood =
            (1...63).contains(name.utf8.count)
            && name.utf8.allSatisfy { $0.isLetterOrDigit || [0x2d, 0x2e, 0x5f].contains($0) }
            && name.utf8.first?.isLetterOrDigit == true
        guard isGood else {
            throw PlatformError.invalid(
                field: field, "must be 1 to 63 of A-Z, a-z, 0-9, -, _ and ., beginning with a letter or digit")
        }
    }
}

/// The state of a namespace at the moment a snapshot was taken.
package struct SnapshotMoment: Sendable {
    package let clock: ClockState
    package let randomSeed: Int
    package let seed: String
    /// The real time at which it was taken.
    package let takenAt: Instant
}

extension Namespace {
    /// Saves the namespace under a name, and replaces any snapshot of that name. Other requests continue meanwhile
    /// [D snapshots].
    package func saveSnapshot(_ name: String, _ head: RequestHead) async -> Completed<Saved<SnapshotInfo>> {
        await runLongOperation(head) { [self] in
            try SnapshotName.check(name)
            return try await environment.copyingImages {
                let (copy, moment) = try await copied()
                return try await save(copy, name, moment)
            }
        }
    }

    /// A consistent copy of the namespace, and its moment.
    package func copied() async throws -> (DatabaseCopy, SnapshotMoment) {
        var begun: DatabaseCopy?
        while true {
            let (copy, moment, isWhole) = try await runExclusively { [begun, environment] state in
                guard let state else { throw PlatformError.unknownNamespace("the namespace was deleted") }
                // Stores what is only in memory, so that the copy has it.
                try state.flush()
                let real = environment.realTime()
                let now = state.clock.now(real: real)
                let moment = SnapshotMoment(
                    clock: ClockState(state.clock, now), randomSeed: state.generator.randomSeed, seed: state.seed.name,
                    takenAt: real)
                let copy = try begun ?? state.database.beginCopy()
                return (copy, moment, try copy.usesSecondConnection || copy.step())
            }
            if isWhole { return (copy, moment) }
            begun = copy
        }
    }

    package func save(
        _ copy: DatabaseCopy, _ name: String, _ moment: SnapshotMoment
    ) async throws -> Saved<SnapshotInfo> {
        try await environment.copying { [self, environment, namespace = self.name] in
            let kept = try environment.snapshots.save(copy, as: name, of: namespace) { transaction in
                try StoredJSON.encode(environment.describe(transaction, name: name, namespace: namespace, moment))
            }
            try checkExists { _ = try environment.snapshots.remove(namespace, name) }
            return Saved(info: try kept.snapshot.info(), isNew: kept.isNew)
        }
    }

    /// Every snapshot of the namespace, sorted by name.
    package func listSnapshots(_ head: RequestHead) async -> Completed<SnapshotList> {
        await runLongOperation(head) { [environment, name] in
            try await environment.copying {
                let (snapshots, damaged) = try environment.snapshots.list(name)
                return SnapshotList(
                    snapshots: try snapshots.map { try $0.info() },
                    damaged: damaged.map { DamagedFile(name: $0.name, problem: $0.problem) })
            }
        }
    }

    /// Deletes a snapshot.
    package func deleteSnapshot(_ name: String, _ head: RequestHead) async -> Completed<Void> {
        await runLongOperation(head) { [environment, namespace = self.name] in
            try SnapshotName.check(name)
            guard try await environment.copying({ try environment.snapshots.remove(namespace, name) }) else {
                throw PlatformError.notFound("there is no snapshot \"\(name)\"; GET /_sim/snapshots lists them")
            }
        }
    }

    /// Restores a snapshot in place. Waiting requests continue with the restored state. A running clock continues
    /// from the saved time. The journal is cleared. A snapshot that another request deletes or replaces meanwhile is a
    /// conflict, and the namespace stays as it was [D snapshots].
    package func restoreSnapshot(_ name: String, _ head: RequestHead) async -> Completed<NamespaceInfo> {
        await runLongOperation(head) { [self] in
            try await environment.copyingImages { try await restore(try await snapshot(name)) }
            await resumeDeliveries()
            return try await answer(.success(ShowNamespace()), head).result.get()
        }
    }

    func restore(_ snapshot: SnapshotRecord) async throws {
        let environment = environment
        let ttl = timeToLive
        let saved = try snapshot.info().clock
        let prepared = try await environment.copying { [namespace = self.name] in
            try environment.store.prepare(namespace, from: .snapshot(snapshot)) {
                try snapshot.begin($0, ttl: ttl, at: nil)
            }
        }
        do {
            try await replaceState(forgets: true) { old in
                let before = try old.database.transaction { try $0.count("deliveries") }
                let database = try environment.store.put(prepared, as: old.name) { try old.database.close() }
                let restored = try NamespaceState(name: old.name, database: database, environment: environment)
                // A clock that was running continues from the saved time: now, because the copy may have taken a while.
                if saved.mode == "running", let now = Instant(saved.now) {
                    let offset = now.microseconds - environment.realTime().microseconds
                    restored.clock = Clock(mode: .running(offset: offset), last: now)
                    try database.transaction { try restored.clock.store(in: $0) }
                }
                try restored.noteRestore(of: old, deliveries: before)
                return restored
            }
        } catch {
            prepared.discard()
            throw error
        }
    }

    /// The snapshot of this name.
    ///
    /// - Throws: ``PlatformError`` if the name is not valid, or there is no such snapshot.
    package func snapshot(_ name: String) async throws -> SnapshotRecord {
        try SnapshotName.check(name)
        let environment = environment
        return try await environment.copying { [namespace = self.name] in
            if let found = try environment.snapshots.find(namespace, name) { return found }
            let names = try environment.snapshots.list(namespace).snapshots.map(\.name)
            let way =
                names.isEmpty
                ? "save one with PUT /_sim/snapshots/\(name)"
                : "\(FieldReader.guess(name, names))GET /_sim/snapshots lists them"
            throw PlatformError.notFound("there is no snapshot \"\(name)\"; \(way)")
        }
    }
}

extension Namespaces {
    /// Creates a namespace from another's snapshot. It includes sessions and keys, so the parent's tokens are valid
    /// in it.
    ///
    /// - Parameters:
    ///   - ttl: the time to live; `nil` if it has none.
    ///   - isInUse: see ``make(_:_:isInUse:)``.
    /// - Throws: ``PlatformError`` if the name is invalid or taken, there is no such snapshot or another request deletes or
    ///   replaces it meanwhile, or storage fails.
    package func fork(
        _ parent: Namespace, snapshot name: String, as child: String, ttl: Span?, isInUse: Bool = false
    ) async throws -> Namespace {
        try SnapshotName.check(name, field: "snapshot")
        let made = try await environment.copyingImages {
            try await fork(try await parent.snapshot(name), as: child, ttl: ttl, isInUse: isInUse)
        }
        await made.resumeDeliveries()
        return made
    }

    /// - Parameter isFrozen: whether a clock that was running is frozen at the saved time.
    func fork(
        _ snapshot: SnapshotRecord, as child: String, ttl: Span?, isInUse: Bool = false, isFrozen: Bool = false
    ) async throws -> Namespace {
        try await create(child, isLong: true, isInUse: isInUse) { environment in
            do {
                let prepared = try environment.store.prepare(child, from: .snapshot(snapshot)) {
                    try snapshot.begin($0, ttl: ttl, at: environment.realTime(), isFrozen: isFrozen)
                }
                let database = try environment.store.put(prepared, as: child) {}
                return try NamespaceState(name: child, database: database, environment: environment)
            } catch StorageError.changedMeanwhile(let reason) {
                throw PlatformError(carrying: StorageError.changedMeanwhile(reason))
            }
        }
    }
}

/// A snapshot or a scenario that was saved under a name.
package struct Saved<Info: Encodable & Sendable>: Sendable {
    /// The description that answers have.
    package let info: Info
    /// Whether it is new; `false` if it replaced another.
    package let isNew: Bool
}

extension Environment {
    /// A new file without a name, for reading and writing, which is gone when it is closed. Blocks.
    package func temporaryFile() throws -> FileHandle {
        let path = try snapshots.temporaryPath()
        let file = try PrivateFile.create(at: path)
        unlink(path)
        return file
    }

    /// Runs a long operation on files, on threads of its own, so that it does not block the jobs of any namespace.
    package func copying<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await sequencer.copying(on: copyThreads, body)
    }

    /// Reads small files that requests may change, on the threads of jobs.
    package func readingFiles<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await sequencer.copying(on: threads, body)
    }

    /// The description of a snapshot.
    package func describe(
        _ transaction: Transaction, name: String, namespace: String, _ moment: SnapshotMoment
    ) throws -> SnapshotInfo {
        let images = try transaction.imageSizes()
        return SnapshotInfo(
            name: name, namespace: namespace, created_at: moment.takenAt.epoch, clock: moment.clock,
            random_seed: moment.randomSeed, seed: moment.seed, counts: try transaction.namespaceCounts(),
            images: images.count, image_bytes: images.bytes, database_bytes: try transaction.databaseBytes())
    }
}

extension SnapshotRecord {
    /// The stored description.
    package func info() throws -> SnapshotInfo {
        do {
            var info = try WireJSON.decode(SnapshotInfo.self, from: Data(facts.utf8))
            info.database_bytes = bytes
            return info
        } catch {
            throw StorageError.unavailable("the snapshot \"\(name)\" has no valid description")
        }
    }

    /// Prepares a copy of the snapshot as a new namespace. Writes.
    ///
    /// - Parameters:
    ///   - ttl: the time to live; `nil` if it has none.
    ///   - real: the real time, from which a running clock continues; `nil` if the caller sets the clock.
    ///   - isFrozen: whether a clock that was running is frozen at the saved time.
    package func begin(_ transaction: Transaction, ttl: Span?, at real: Instant?, isFrozen: Bool = false) throws {
        let saved = try info().clock
        if let real, saved.mode == "running", let now = Instant(saved.now) {
            let mode = isFrozen ? Clock.Mode.frozen(now) : .running(offset: now.microseconds - real.microseconds)
            try Clock(mode: mode, last: now).store(in: transaction)
        }
        try transaction.removeNamespaceValue(.snapshot)
        for key in [NamespaceKey.restoredAt, .deliveriesForgottenBefore] { try transaction.removeNamespaceValue(key) }
        if let ttl {
            try transaction.setNamespaceValue(.ttl, String(ttl.microseconds))
        } else {
            try transaction.removeNamespaceValue(.ttl)
        }
    }
}
