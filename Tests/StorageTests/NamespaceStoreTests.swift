import Foundation
import GRDB
import NIOConcurrencyHelpers
import Testing

@testable import Storage

@Suite struct NamespaceStoreTests {
    /// By the next version, which is made up.
    @Test func anOlderDatabaseIsMigratedAfterACopy() throws {
        try withDirectory { path in
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            let file = path + "/world.sqlite"
            let old = try DatabaseQueue(path: file)
            try Schema.migrator.migrate(old)
            try old.write { try $0.execute(sql: "INSERT INTO counters VALUES ('item', 7)") }
            try old.close()

            let next = Schema.migrator(appending: [
                Migration(
                    "the next version", "ALTER TABLE counters ADD COLUMN note TEXT",
                    "UPDATE counters SET value = 8")
            ])
            let world = try NamespaceDatabase(path: file, migrator: next)
            #expect(try world.transaction { try $0.counter("item") } == 8)
            try world.close()

            let copy = try DatabaseQueue(path: file + ".schema-1")
            let (applied, counter) = try copy.read { database in
                (
                    try Schema.migrator.appliedIdentifiers(database).count,
                    try Int.fetchOne(database, sql: "SELECT value FROM counters")
                )
            }
            #expect(applied == 1 && counter == 7, "the copy has the state before the migration")
        }
    }

    /// Statistics and exports ask for each of an organization's accounts, with as many organizations as a seed has.
    @Test(arguments: [
        ("SELECT token FROM api_tokens WHERE organization_id = 1 ORDER BY token", "api_tokens_by_organization"),
        ("SELECT * FROM partner_users WHERE organization_id = 1 ORDER BY username", "partner_users_by_organization"),
        ("SELECT * FROM subscriptions WHERE organization_id = 1 ORDER BY position", "subscriptions_by_organization"),
    ])
    func accountsOfAnOrganizationAreFoundByAnIndex(sql: String, index: String) throws {
        let queue = try DatabaseQueue()
        try Schema.migrator.migrate(queue)
        let plan = try queue.read { database in
            try Row.fetchAll(database, sql: "EXPLAIN QUERY PLAN " + sql).map { $0["detail"] as String }
        }
        #expect(plan.count == 1 && plan[0].contains(index), "\(plan)")
    }

    /// A server that is stopped under load checkpoints its log while another checkpoint is running.
    @Test func theLastCheckpointWaitsForTheOneThatRuns() throws {
        try withDirectory { path in
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            let file = path + "/world.sqlite"
            let done = DispatchGroup()
            let world = try NamespaceDatabase(
                path: file,
                background: { work in
                    done.enter()
                    Thread.detachNewThread {
                        work()
                        done.leave()
                    }
                })
            for round in 0..<100 {
                try world.transaction { try $0.setNamespaceValue(.seedName, "\(round)") }
                world.checkpointIfIdle()
                world.checkpointIfIdle()
                try world.checkpoint()
            }
            done.wait()
            try world.close()
        }
    }

    /// SQLite leaves one where the file system shares no memory.
    @Test func nothingStaysBesideADatabaseThatIsPutInItsPlace() throws {
        try withDirectory { path in
            let store = try NamespaceStore(root: path)
            let prepared = try store.prepare("a", from: .template(key: "t", build: { _ in })) { _ in }
            guard case .file(let fresh) = prepared else { return #expect(Bool(false)) }
            try Data(count: 10).write(to: URL(fileURLWithPath: fresh + "-shm"))
            try store.put(prepared, as: "a") {}.close()
            let names = try FileManager.default.contentsOfDirectory(atPath: path + "/namespaces")
            #expect(!names.contains { $0.contains(".new-") }, "\(names)")
        }
    }

    @Test func anIdleDatabaseIsCheckpointedIntoItsFile() throws {
        try withDirectory { path in
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            let file = path + "/world.sqlite"
            let world = try NamespaceDatabase(path: file, background: { work in work() })
            try world.transaction { try $0.setNamespaceValue(.seedName, "written") }
            world.checkpointIfIdle()
            try world.transaction { try $0.setNamespaceValue(.seedText, "again") }
            world.checkpointIfIdle()
            #expect(try wholeValues(file) == 0, "a write in between postpones the checkpoint")
            world.checkpointIfIdle()
            #expect(try wholeValues(file) == 2)
            try world.close()
        }
    }

    /// Its file may have been removed or replaced by then.
    @Test(arguments: [true, false]) func aCheckpointThatWaitsForItsThreadLeavesAClosedDatabaseAlone(isIdle: Bool) throws
    {
        try withDirectory { path in
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            let file = path + "/world.sqlite"
            let waiting = NIOLockedValueBox<[@Sendable () -> Void]>([])
            let world = try NamespaceDatabase(
                path: file, background: { work in waiting.withLockedValue { $0.append(work) } })
            try world.transaction { try $0.setNamespaceValue(.seedName, "written") }
            for _ in 0..<2 { world.checkpointIfIdle() }
            let checkpoints = waiting.withLockedValue { $0 }
            #expect(checkpoints.count == 1)
            if isIdle { try world.closeIdleConnection() } else { world.abandon() }
            NamespaceStore.removeDatabase(file)
            for checkpoint in checkpoints { checkpoint() }
            #expect(!FileManager.default.fileExists(atPath: file))
        }
    }

    @Test func aDatabaseThatIsUsedAgainAfterItsIdleTimeIsCheckpointed() throws {
        try withDirectory { path in
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            let file = path + "/world.sqlite"
            let world = try NamespaceDatabase(path: file, background: { work in work() })
            try world.closeIdleConnection()
            try world.transaction { try $0.setNamespaceValue(.seedName, "written") }
            for _ in 0..<2 { world.checkpointIfIdle() }
            #expect(try wholeValues(file) == 1)
            try world.close()
        }
    }

    /// The number of namespace values in the file alone, without its write-ahead log.
    private func wholeValues(_ file: String) throws -> Int? {
        let copy = file + ".copy"
        try? FileManager.default.removeItem(atPath: copy)
        try FileManager.default.copyItem(atPath: file, toPath: copy)
        let queue = try DatabaseQueue(path: copy)
        defer { try? queue.close() }
        return try queue.read { database in
            guard try database.tableExists("world") else { return 0 }
            return try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM world")
        }
    }

    @Test func aPlatformsMigrationsRunAfterThoseOfEveryNamespace() throws {
        try withDirectory { path in
            try make(NamespaceStore(root: path), "a", seed: "1").close()
            let ours = Migration("a platform's table", "CREATE TABLE things (id INTEGER) STRICT")
            let store = try NamespaceStore(root: path, migrations: [ours])
            for world in [try store.open("a"), try make(store, "b", seed: "2")] {
                #expect(try world.transaction { try $0.count("things") } == 0)
                try world.close()
            }
            let file = path + "/namespaces/b.sqlite"
            #expect(throws: StorageError.self) { try UploadedDatabase.prepare(file) }
            try UploadedDatabase.prepare(file, migrations: [ours])
        }
    }

    @Test(arguments: [3, 250])
    func removedDatabasesLoseTheirNamesAtOnceAndTheirFilesLater(count: Int) throws {
        try withDirectory { path in
            let later = NIOLockedValueBox<[@Sendable () -> Void]>([])
            let runLater = {
                later.withLockedValue { work in
                    defer { work = [] }; return work
                }.forEach { $0() }
            }
            var store: NamespaceStore? = try NamespaceStore(
                root: path, background: { work in later.withLockedValue { $0.append(work) } })
            runLater()
            let names = (0..<count).map { "n-\($0)" }
            for name in names + ["kept"] {
                try Data().write(to: URL(fileURLWithPath: "\(path)/namespaces/\(name).sqlite"))
            }
            store?.remove(names)
            #expect(try store?.names() == ["kept"])
            let files = { try FileManager.default.contentsOfDirectory(atPath: path + "/removed").count }
            #expect(try files() == (count < RemovedFiles.renamedFrom ? 0 : count))

            // Another removal adds names while the first one's files are there.
            store?.remove(["kept"])
            runLater()
            #expect(try files() == 0)

            // A killed process leaves files.
            try Data().write(to: URL(fileURLWithPath: path + "/removed/7"))
            store = nil
            store = try NamespaceStore(root: path)
            #expect(try files() == 0 && store?.names() == [])
        }
    }

    @Test func aNewerDatabaseIsRefusedWithBothVersions() throws {
        try withDirectory { path in
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            let file = path + "/world.sqlite"
            var newer = Schema.migrator
            newer.registerMigration("from the future") { _ in }
            let queue = try DatabaseQueue(path: file)
            try newer.migrate(queue)
            try queue.close()
            let known = Schema.migrator.migrations.count
            let error = #expect(throws: StorageError.self) { try NamespaceDatabase(path: file) }
            let text = try #require(error?.description)
            #expect(text.contains("version \(known + 1)") && text.contains("up to \(known)"))
        }
    }

    /// Runs `body` with the path of a directory for this test, which is removed afterwards.
    private func withDirectory(_ body: (String) throws -> Void) throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("world-store-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try body(path)
    }

    private func make(_ store: NamespaceStore, _ name: String, seed: String) throws -> NamespaceDatabase {
        try store.make(
            name, template: "t",
            build: { _ = try $0.insertOrganization(name: "Org", sdkFlagging: true) },
            finish: { try $0.setNamespaceValue(.randomSeed, seed) }, closeOld: {})
    }

    @Test(arguments: [true, false]) func namespacesAreCopiesOfOneTemplate(onDisk: Bool) throws {
        try withDirectory { path in
            let store = try NamespaceStore(root: onDisk ? path : nil)
            let first = try make(store, "a", seed: "1")
            let second = try make(store, "b", seed: "2")
            try first.transaction { try $0.insertAPIToken("t1", organizationID: 1) }
            #expect(try second.transaction { try $0.organization(apiToken: "t1") } == nil)
            #expect(try second.transaction { try $0.namespaceValue(.randomSeed) } == "2")
            #expect(try first.transaction { try $0.namespaceValue(.randomSeed) } == "1")
        }
    }

    @Test(arguments: [true, false]) func theLeastRecentlyUsedTemplatesAreRemoved(onDisk: Bool) throws {
        try withDirectory { path in
            func make(_ store: NamespaceStore, template: String) throws {
                _ = try store.make(
                    "a", template: template, build: { _ in }, finish: { _ in }, closeOld: {}
                ).close()
            }
            var store: NamespaceStore? = try NamespaceStore(root: onDisk ? path : nil)
            for number in 0..<DatabaseTemplates.maxCount + 3 {
                try make(store!, template: "t-\(number)")
                // The first one made is used once more, before there are too many.
                if number == DatabaseTemplates.maxCount - 1 { try make(store!, template: "t-0") }
            }
            #expect(store!.templates.count == DatabaseTemplates.maxCount)
            guard onDisk else { return }
            let folder = path + "/templates"
            let files = Set(try FileManager.default.contentsOfDirectory(atPath: folder))
            #expect(
                files.count == DatabaseTemplates.maxCount
                    && files.contains("t-0-\(Schema.migrator.migrations.count).sqlite"))
            store = nil
            for name in ["t-0-1.sqlite", "t-0-\(Schema.migrator.migrations.count).sqlite.new"] {
                #expect(FileManager.default.createFile(atPath: "\(folder)/\(name)", contents: nil))
            }
            store = try NamespaceStore(root: path)
            #expect(Set(try FileManager.default.contentsOfDirectory(atPath: folder)) == files)
            #expect(store!.templates.count == DatabaseTemplates.maxCount)
            try FileManager.default.removeItem(atPath: folder + "/t-0-\(Schema.migrator.migrations.count).sqlite")
            try make(store!, template: "t-0")
        }
    }

    @Test func recentValuesAreLimitedInNumberAndInBytes() {
        var recent = RecentValues<String, Int>(maxCount: 3, maxBytes: 100)
        for (value, key) in ["a", "b", "c"].enumerated() { #expect(recent.insert(value, for: key, bytes: 10).isEmpty) }
        #expect(recent.value(of: "a") == 0)
        #expect(recent.insert(3, for: "d", bytes: 10) == [1])
        #expect(recent.insert(4, for: "e", bytes: 85) == [2, 0], "bytes count too")
        #expect(recent.insert(5, for: "f", bytes: 101) == [5], "a value that is too large drops no other")
        #expect(recent.value(of: "e") == 4 && recent.value(of: "b") == nil && recent.count == 2)
    }

    @Test func aReopenedStoreFindsANamespaceWithItsWrites() throws {
        try withDirectory { path in
            let world = try make(NamespaceStore(root: path), "a", seed: "1")
            try world.transaction { try $0.insertAPIToken("kept", organizationID: 1) }
            try world.close()
            let store = try NamespaceStore(root: path)
            #expect(try store.names() == ["a"])
            let name = try store.open("a").transaction { try $0.organization(apiToken: "kept")?.name }
            #expect(name == "Org")
        }
    }

    @Test func aNewNamespaceReplacesTheClosedOneOfItsName() throws {
        try withDirectory { path in
            let store = try NamespaceStore(root: path)
            let old = try make(store, "a", seed: "1")
            try old.transaction { try $0.insertAPIToken("old", organizationID: 1) }
            let new = try store.make(
                "a", template: "t", build: { _ in }, finish: { try $0.setNamespaceValue(.randomSeed, "2") },
                closeOld: { try old.close() })
            #expect(try new.transaction { try $0.organization(apiToken: "old") } == nil)
            #expect(try store.names() == ["a"])
        }
    }

    @Test func aDataDirectoryThatIsAFileIsRefusedWithItsName() throws {
        try withDirectory { path in
            try Data("x".utf8).write(to: URL(fileURLWithPath: path))
            #expect(throws: StorageError.self) { try NamespaceStore(root: path) }
        }
    }
}

@Suite struct TransactionTests {
    @Test func aTransactionThatThrowsLeavesNothing() throws {
        struct Stop: Error {}
        let world = try NamespaceDatabase(path: nil)
        #expect(throws: Stop.self) {
            try world.transaction { transaction in
                try transaction.setNamespaceValue(.seedName, "x")
                throw Stop()
            }
        }
        #expect(try world.transaction { try $0.namespaceValue(.seedName) } == nil)
    }

    @Test func aSavepointUndoesOnlyItsOwnWrites() throws {
        struct Stop: Error {}
        let world = try NamespaceDatabase(path: nil)
        try world.transaction { transaction in
            try transaction.setNamespaceValue(.seedName, "kept")
            #expect(throws: Stop.self) {
                try transaction.savepoint {
                    try transaction.setNamespaceValue(.seedName, "lost")
                    throw Stop()
                }
            }
            #expect(transaction.isOpen)
        }
        #expect(try world.transaction { try $0.namespaceValue(.seedName) } == "kept")
    }

    private static func zeros(for sql: String) -> [any ColumnValue] { sql.filter { $0 == "?" }.map { _ in 0 } }

    @Test func queriesOverManyRowsUseAnIndex() throws {
        let world = try NamespaceDatabase(path: nil)
        try world.transaction { transaction in
            for (sql, index) in [
                (Transaction.deleteDueSQL, "due_by_time"),
                (
                    "SELECT 1 FROM deliveries WHERE subscription_id = ? AND entrupy_id = ? AND \(Schema.isOpenDelivery)",
                    "deliveries_open"
                ),
            ] {
                let plan = try transaction.all("EXPLAIN QUERY PLAN " + sql, Self.zeros(for: sql)) {
                    try $0[3] as String
                }
                #expect(plan.contains { $0.contains("SEARCH") && $0.contains(index) }, "\(sql): \(plan)")
            }
        }
    }

    /// For an index condition with a list, SQLite would make a table for each row.
    @Test func insertingARowCreatesNoTemporaryTable() throws {
        let world = try NamespaceDatabase(path: nil)
        try world.transaction { transaction in
            for table in ["events", "deliveries", "due", "captures", "items"] {
                let columns = try transaction.all("PRAGMA table_info(\(table))") { try $0[1] as String }
                let sql = "INSERT INTO \(table) VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))"
                let program = try transaction.all("EXPLAIN " + sql, Self.zeros(for: sql)) { try $0[1] as String }
                #expect(program.contains("Insert") && !program.contains("OpenEphemeral"), "\(table)")
            }
        }
    }

    @Test func eachKindHasItsOwnCounter() throws {
        let world = try NamespaceDatabase(path: nil)
        let stored = try world.transaction { transaction in
            try transaction.setCounter("a", 1)
            try transaction.setCounter("a", 2)
            return try ["a", "b"].map { try transaction.counter($0) }
        }
        #expect(stored == [2, 0])
    }

    @Test func dueWorkComesInTimeOrderThenInTheOrderItWasScheduled() throws {
        let world = try NamespaceDatabase(path: nil)
        try world.transaction { transaction in
            for (at, subject) in [(20, "c"), (10, "a"), (10, "b")] {
                try transaction.insertDue(at: Instant(microseconds: Int64(at)), kind: "k", subject: subject)
            }
            var order: [String] = []
            while let due = try transaction.nextDue() {
                order.append(due.subject)
                try transaction.deleteDue(id: due.id)
            }
            #expect(order == ["a", "b", "c"])
        }
    }
}

@Suite struct ImageStoreTests {
    @Test(arguments: [true, false]) func aStoredImageIsFound(onDisk: Bool) throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("images-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let store = ImageStore(root: onDisk ? path : nil)
        let hash = String(repeating: "ab", count: 32)
        #expect(try store.bytes(sha256: hash) == nil)
        try store.hold(Data("picture".utf8), sha256: hash)
        try store.hold(Data("picture".utf8), sha256: hash)
        store.release(sha256: hash, isKept: true)
        store.release(sha256: hash, isKept: false)
        #expect(try store.bytes(sha256: hash) == Data("picture".utf8))
        if onDisk {
            let files = try FileManager.default.contentsOfDirectory(atPath: path + "/images/ab")
            #expect(files == [hash])
        }
    }

    /// A download that has begun ends, whatever happens to the image.
    @Test(arguments: [true, false]) func anOpenImageIsReadToItsEndAfterItsRemoval(onDisk: Bool) throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("images-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let store = ImageStore(root: onDisk ? path : nil)
        let hash = String(repeating: "cd", count: 32)
        #expect(try store.open(sha256: hash) == nil)
        let bytes = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 * 7) })
        try store.hold(bytes, sha256: hash)
        let image = try #require(try store.open(sha256: hash))
        store.release(sha256: hash, isKept: false)
        #expect(try store.open(sha256: hash) == nil && image.size == bytes.count)
        func part(at offset: Int, upTo count: Int) throws -> Data {
            var part = Data(count: count)
            let read = try part.withUnsafeMutableBytes { try image.read(into: $0, at: offset) }
            return part.prefix(read)
        }
        #expect(try part(at: 0, upTo: 40_000) == bytes[..<40_000])
        #expect(try part(at: 99_990, upTo: 40_000) == bytes[99_990...], "the last piece is short")
        #expect(try part(at: 100_000, upTo: 1).isEmpty)
        #expect(try part(at: 40_000, upTo: 100) == bytes[40_000..<40_100], "readers need not go forward")
    }

    @Test(arguments: [true, false]) func aReleasedImageIsRemovedUnlessItExistedBefore(onDisk: Bool) throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("images-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let store = ImageStore(root: onDisk ? path : nil)
        let hash = String(repeating: "cd", count: 32)
        for isKept in [false, true, false] {
            try store.hold(Data("picture".utf8), sha256: hash)
            store.release(sha256: hash, isKept: isKept)
            let wasKept = try store.bytes(sha256: hash) != nil
            #expect(wasKept == (isKept || wasKept && !isKept))
        }
        #expect(try store.bytes(sha256: hash) != nil, "the image existed before the last hold")
        let other = String(repeating: "ef", count: 32)
        try store.hold(Data("other".utf8), sha256: other)
        store.release(sha256: other, isKept: false)
        #expect(try store.bytes(sha256: other) == nil)
    }
}

extension NamespaceStore {
    /// Makes a database from a template and puts it in place.
    fileprivate func make(
        _ name: String, template: String, build: (Transaction) throws -> Void, finish: (Transaction) throws -> Void,
        closeOld: () throws -> Void
    ) throws -> NamespaceDatabase {
        // The builder does not escape.
        try withoutActuallyEscaping(build) { build in
            let prepared = try prepare(name, from: .template(key: template, build: build), finish: finish)
            return try put(prepared, as: name, closeOld: closeOld)
        }
    }
}
