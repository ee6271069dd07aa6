import Storage
import Testing

@testable import EntrupyStorage

@Suite struct ItemSearchTests {
    private typealias Term = ItemSearch.Term

    /// Each single filter, the cascade of the guide, and other likely searches.
    static let searches: [(name: String, terms: [ItemSearch.Term])] = [
        ("no filter", []), ("brand", [Term(.brand, ["nike"])]), ("brands", [Term(.brand, ["nike", "adidas"])]),
        ("result", [Term(.result, ["authentic"])]), ("results", [Term(.result, ["unknown", "authentic"])]),
        ("flag", [Term(.flag, ["flagged"])]), ("category", [Term(.category, ["sneakers"])]),
        ("customer item id", [Term(.customerItemID, ["sku-1"])]),
        ("cascade", [Term(.brand, ["nike", "adidas"]), Term(.result, ["unknown", "authentic"])]),
        ("cascade and flag", [Term(.brand, ["nike"]), Term(.result, ["authentic"]), Term(.flag, ["none"])]),
        ("excluded", [Term(.brand, ["nike"], isExcluded: true)]),
        ("not of a user", [Term(.user, ["2"], isExcluded: true)]),
        // Items without a customer item id have none of the excluded ones.
        ("not of a customer item id", [Term(.customerItemID, ["sku-1"], isExcluded: true)]),
        ("id", [Term(.entrupyID, ["I819"])]), ("not of an id", [Term(.entrupyID, ["I819"], isExcluded: true)]),
        ("ids of brands", [Term(.entrupyID, ["I819", "I657", "nobody"]), Term(.brand, ["nike", "adidas", "asics"])]),
        ("many values", [Term(.customerItemID, (0..<100).map { "sku-\($0)" })]),
        ("twice", [Term(.brand, ["nike", "adidas"]), Term(.brand, ["adidas", "asics"])]),
    ]

    /// The tests only read it.
    private static let world = Result { try makeWorld() }

    private static func makeWorld() throws -> NamespaceDatabase {
        let world = try NamespaceDatabase(path: nil, migrator: Schema.migrator(appending: EntrupyMigrations.all))
        try world.transaction { transaction in
            let organization = try transaction.insertOrganization(name: "Org", sdkFlagging: true)
            for name in ["a", "b"] {
                _ = try transaction.insertUser(
                    organizationID: organization, username: name, uniqueUserID: name, email: nil, firstName: nil,
                    lastName: nil, isTestUser: false, createdAt: Instant(microseconds: 0))
            }
            for number in 0..<300 {
                var item = ItemRecord(
                    entrupyID: "I\((number * 7919) % 1000)", captureID: nil, organizationID: organization,
                    userID: number % 10 == 0 ? 2 : 1, configType: .production,
                    category: ["sneakers", "luxury"][number % 2], brandID: ["nike", "adidas", "asics"][number % 3],
                    brandName: "", customerItemID: number % 4 == 0 ? nil : "sku-\(number % 5)", metadata: "{}",
                    captureStartedAt: nil, submittedAt: Instant(microseconds: Int64(number / 7)),
                    result: [.authentic, .unknown][number % 5 / 3], decidedBy: .control,
                    activity: [.authentication, .fingerprintRegister][number % 6 / 5])
                item.flag = [.unflagged, .unflagged, .flagged, .resolved][number % 4]
                try transaction.insert(item)
            }
        }
        return world
    }

    /// The items of some users; those of the whole organization if `users` is empty.
    private func scope(_ users: [Int64]) -> ItemSearch.Scope {
        users.isEmpty ? .organizations([1]) : .users(users)
    }

    /// SQLite's query plan for a page.
    private func plan(_ search: ItemSearch, _ transaction: Transaction) throws -> [String] {
        try search.statements(key: 0).flatMap { statement in
            try transaction.all("EXPLAIN QUERY PLAN " + statement.sql, statement.arguments + [25]) {
                try $0[3] as String
            }
        }
    }

    @Test(arguments: searches, [[1], [1, 2], []]) func noSearchScansOrSorts(
        search: (name: String, terms: [ItemSearch.Term]), users: [Int64]
    ) throws {
        let (name, terms) = search
        let world = try Self.world.get()
        for after in [nil, ItemSearch.Position(submittedAt: Instant(microseconds: 20), entrupyID: "I5")] {
            let search = ItemSearch(
                scope: scope(users), terms: terms, from: Instant(microseconds: 1), to: Instant(microseconds: 40),
                after: after)
            let plan = try world.transaction { try self.plan(search, $0) }
            #expect(
                plan.contains {
                    $0.contains("USING INDEX items_by_\(users.isEmpty ? "organization" : "user")")
                        || name.hasPrefix("id") && $0.contains("sqlite_autoindex_items_1 (entrupy_id=?)")
                },
                "\(plan)")
            #expect(!plan.contains { $0.hasPrefix("SCAN") || $0.contains("TEMP B-TREE") }, "\(name): \(plan)")
        }
    }

    /// Compares every search, with every page size, with a result filtered and sorted by hand.
    @Test(arguments: searches, [[1], [1, 2], []]) func pagesMatchFilteringAndSortingByHand(
        search: (name: String, terms: [ItemSearch.Term]), users: [Int64]
    ) throws {
        let (name, terms) = search
        let world = try Self.world.get()
        let all = try world.transaction { try $0.items(before: .max, limit: 1000) }
        let expected = all.filter { item in
            (users.isEmpty || users.contains(item.userID)) && item.submittedAt >= Instant(microseconds: 3)
                && item.submittedAt <= Instant(microseconds: 38)
                && terms.allSatisfy { term in
                    let value: String? =
                        switch term.field {
                        case .brand: item.brandID
                        case .result: item.result.rawValue
                        case .flag: item.flag.rawValue
                        case .category: item.category
                        case .customerItemID: item.customerItemID
                        case .entrupyID: item.entrupyID
                        case .activity: item.activity.rawValue
                        case .formFactor: item.formFactor.rawValue
                        case .user: String(item.userID)
                        }
                    return term.values.contains { $0 == value } != term.isExcluded
                }
        }.sorted { ($1.submittedAt, $0.entrupyID) < ($0.submittedAt, $1.entrupyID) }.map(\.entrupyID)
        for limit in [3, 25, 1000] {
            var found: [String] = []
            var search = ItemSearch(
                scope: scope(users), terms: terms, from: Instant(microseconds: 3), to: Instant(microseconds: 38),
                after: nil)
            while true {
                let page = try world.transaction { try $0.items(search, limit: limit, key: 0) }
                found += page.map(\.entrupyID)
                guard let last = page.last, page.count == limit else { break }
                search.after = ItemSearch.Position(submittedAt: last.submittedAt, entrupyID: last.entrupyID)
            }
            #expect(found == expected, "\(name), pages of \(limit)")
        }
        let whole = ItemSearch(
            scope: scope(users), terms: terms, from: Instant(microseconds: 3), to: Instant(microseconds: 38), after: nil
        )
        #expect(try world.transaction { try $0.countItems(whole) } == expected.count, "\(name)")
        #expect(!expected.isEmpty || name == "nothing")
    }

    /// SQLite allows some ten thousand variables. Each id has a part of its own in the statement.
    @Test func manyIDsBesideManyOtherValuesAreFound() throws {
        let ids = (0..<100).map { "I\($0 * 7919 % 1000)" }
        let others = (0..<100).map { "x\($0)" }
        var terms = [Term(.entrupyID, ids)]
        for field in [ItemSearch.Field.brand, .category, .result, .flag, .activity] {
            for _ in 0..<3 { terms.append(Term(field, others, isExcluded: true)) }
        }
        let search = ItemSearch(scope: .organizations([1]), terms: terms, from: nil, to: nil, after: nil)
        let found = try Self.world.get().transaction { try $0.items(search, limit: 1000, key: 0) }
        #expect(found.count == 100)
    }

    @Test func termsThatContradictEachOtherFindNothing() throws {
        let terms = [Term(.brand, ["nike"]), Term(.brand, ["adidas"])]
        let search = ItemSearch(scope: .users([1]), terms: terms, from: nil, to: nil, after: nil)
        let found = try Self.world.get().transaction { try $0.items(search, limit: 25, key: 0) }
        #expect(found.isEmpty)
    }

    /// Clients choose the fields of their searches, and SQLite keeps what is cached as long as the connection.
    @Test func manyDifferentSearchesDoNotGrowTheCache() throws {
        let world = try Self.makeWorld()
        let fields = ItemSearch.Field.allCases.filter { $0 != .user }
        var texts: Set<String> = []
        for number in 0..<10_000 {
            var (rest, terms): (Int, [Term]) = (number * 7919 % 1_000_003, [])
            for _ in 0...(number % 3) {
                let field = fields[rest % fields.count]
                rest /= fields.count
                terms.append(Term(field, (0..<(rest % 4 + 1)).map { "v\($0)" }, isExcluded: rest % 3 == 0))
            }
            let search = ItemSearch(
                scope: .users([1]), terms: terms, from: number % 2 == 0 ? nil : Instant(microseconds: 1),
                to: nil, after: nil)
            texts.formUnion(search.statements(key: 0).map(\.sql))
            _ = try world.transaction { try $0.items(search, limit: 25, key: 0) }
        }
        #expect(texts.count > 1000)
        #expect(try world.statementCount() < 200)
    }

    @Test func searchesThatMeanTheSameHaveTheSameStatement() {
        func sql(_ terms: [Term]) -> [String] {
            ItemSearch(scope: .users([1]), terms: terms, from: nil, to: nil, after: nil).statements(key: 0).map(\.sql)
        }
        let (brand, result, flag) = (
            Term(.brand, ["nike"]), Term(.result, ["authentic"]), Term(.flag, ["flagged"], isExcluded: true)
        )
        let wanted = sql([brand, result, flag])
        for terms in [[flag, result, brand], [result, flag, brand, brand], [flag, brand, flag, result, result]] {
            #expect(sql(terms) == wanted)
        }
    }

}
