import GRDB
import Testing

@testable import Entrupy
@testable import Simulation
@testable import Storage

/// The values that an uploaded database may hold.
@Suite struct WorldDomainTests {
    @Test func everyColumnOfTheSchemaHasADomain() throws {
        let domains = [NamespaceDomains.namespaceValues(.simulated)] + NamespaceDomains.tables(try .standard())
        let reference = try DatabaseQueue()
        try Schema.migrator(appending: Platforms.simulated.migrations).migrate(reference)
        let schema = try reference.read { database in
            let tables = try String.fetchAll(
                database, sql: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'grdb_migrations'")
            return try Dictionary(
                uniqueKeysWithValues: tables.map { ($0, try database.columns(in: $0).map(\.name)) })
        }
        #expect(Set(domains.map(\.name)) == Set(schema.keys))
        #expect(domains.count == schema.count)
        for domain in domains {
            #expect(domain.columns.map(\.name).sorted() == schema[domain.name]?.sorted(), "\(domain.name)")
        }
    }

    /// Null is valid in an upload exactly where the schema allows it.
    @Test func aDomainAllowsNullWhereItsColumnDoes() throws {
        let database = try NamespaceDatabase(
            path: nil, migrator: Schema.migrator(appending: Platforms.simulated.migrations))
        let domains = NamespaceDomains.tables(try .standard())
        #expect(domains.count > 20)
        try database.transaction { transaction in
            for domain in domains where domain.name != "sqlite_sequence" {
                let columns = try transaction.read(
                    #"SELECT name, "notnull" OR pk FROM pragma_table_info(?)"#, [domain.name]
                ) { row in
                    var columns: [String: Bool] = [:]
                    while try row.next() { columns[row.text(0)] = row.integer(1) == 0 }
                    return columns
                }
                for column in domain.columns {
                    let allowsNull = try transaction.read("SELECT 'null', NULL", []) { row in
                        _ = try row.next()
                        // An unread column is checked by the name of its type.
                        return column.domain.problem(row, column.name == "sdk_rendering" ? 0 : 1) == nil
                    }
                    #expect(allowsNull == columns[column.name], "\(domain.name).\(column.name)")
                }
            }
        }
    }

    @Test func idsOfARecordAreOfAKindThatAPlatformHas() {
        let platforms = Platforms.simulated
        let kinds = NamespaceDomains.declared(platforms).compactMap { $0.identity?.kind }
        #expect(Set(kinds).isSubset(of: platforms.idKinds.map(\.name)))
        #expect(Set(kinds).count == kinds.count && kinds.contains(IDKind.delivery.name), "\(kinds)")
    }

    private static func isText(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes(ColumnDomain.isText) }

    @Test func textIsUTF8WithoutNULAtEveryPosition() {
        for length in 0..<40 {
            let plain = [UInt8](repeating: 0x61, count: length)
            #expect(Self.isText(plain))
            #expect(Self.isText(plain + Array("é日本👍🏽".utf8) + plain))
            for place in 0..<length {
                for byte: UInt8 in [0x00, 0x80, 0xc0, 0xff, 0xed] {
                    var broken = plain
                    broken[place] = byte
                    #expect(!Self.isText(broken), "\(byte) at \(place) of \(length)")
                }
            }
        }
    }

    /// The problem of a row's second column; `nil` if it is valid. The first column has the key `fault`.
    private func problem(_ domain: ColumnDomain, _ sql: String) throws -> String? {
        let world = try NamespaceDatabase(path: nil)
        return try world.transaction { transaction in
            let row = try DirectStatement(
                transaction.database, transaction.database.makeStatement(sql: "SELECT 'fault', \(sql)"))
            _ = try row.next()
            return domain.problem(row, 1)
        }
    }

    @Test(arguments: [
        (ColumnDomain.time, ["0", "253402300799999999"], ["-1", "253402300800000000", "NULL", "'0'", "1.0", "x'30'"]),
        (.count, ["0", "1"], ["-1", "9223372036854775807", "1e300"]), (.flag, ["0", "1"], ["2", "NULL"]),
        (.real(0...10), ["0.5", "10.0"], ["-0.1", "1e999", "-1e999", "NULL"]),
        (.word(["a", "é"]), ["'a'", "'é'"], ["'A'", "'e' || char(769)", "''", "x'61'"]),
        (
            .id(.capture), ["'cap_abcdefghij234567abcd'"],
            ["'cap_'", "'cup_abcdefghij234567abcd'", "'cap_ABCDEFGHIJ234567ABCD'"]
        ),
        (
            .id(.item), ["'ABCD2345'", "'0189ABCD'"],
            ["'abcd2345'", "'ABCD234'", "'ABCD234-'", "'ABCDEFGHIJ234567'"]
        ),
        (.object(), ["'{}'", "'{\"a\":[1]}'"], ["'[]'", "'{'", "''", "'{\"a\":1e999}'", "'{\"a\":\"\\ud800\"}'"]),
        (.decimal(0...9), ["'7'"], ["'10'", "'07'", "'+7'", "'x'", "7"]),
        (.text(1...3), ["'abc'"], ["''", "'abcd'", "CAST(x'ff' AS TEXT)", "'a' || char(0)"]),
        (.unread, ["'blob'", "'null'"], ["'text'", "'integer'"]),
        (.choice(["fault": .flag]), ["1"], ["7"]), (.choice(["other": .flag]), [], ["1"]),
        (.flag.orNull, ["NULL", "0"], ["2"]),
    ])
    func aDomainAcceptsOnlyItsValues(domain: ColumnDomain, right: [String], wrong: [String]) throws {
        for sql in right { #expect(try problem(domain, sql) == nil, "\(sql)") }
        for sql in wrong { #expect(try problem(domain, sql)?.hasPrefix("must ") == true, "\(sql)") }
    }
}
