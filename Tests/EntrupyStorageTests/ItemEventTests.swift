import Storage
import Testing

@testable import EntrupyStorage

@Suite struct ItemEventTests {
    @Test func queriesByItemUseAnIndex() throws {
        let world = try NamespaceDatabase(path: nil, migrator: Schema.migrator(appending: EntrupyMigrations.all))
        try world.transaction { transaction in
            for (sql, index) in [
                (EventRecord.table.select + Transaction.eventsOfItem, "events_of_items"),
                (Transaction.deleteDueResultSQL, "due_results"),
            ] {
                let plan = try transaction.all("EXPLAIN QUERY PLAN " + sql, sql.filter { $0 == "?" }.map { _ in 0 }) {
                    try $0[3] as String
                }
                #expect(plan.contains { $0.contains("SEARCH") && $0.contains(index) }, "\(sql): \(plan)")
            }
        }
    }
}
