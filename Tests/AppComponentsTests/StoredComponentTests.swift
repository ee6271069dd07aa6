import AppComponentsStorage
import Storage
import TestSupport
import Testing

/// Each record's declaration: a value comes back from the column that it was written to.
@Suite struct StoredComponentTests {
    private func lost<Record: StoredRecord>(_ type: Record.Type) throws -> [String] {
        let migrator = Schema.migrator(appending: ComponentMigrations.all)
        return try lostColumns(type, in: NamespaceDatabase(path: nil, migrator: migrator))
    }

    @Test func recordsKeepTheirColumnsApart() throws {
        #expect(try lost(ValidationCodeRecord.self) == [])
        #expect(try lost(WorkflowSessionRecord.self) == ["position: 10 became "])
        #expect(try lost(ComponentRunRecord.self) == [])
        #expect(try lost(ComponentFileRecord.self) == [])
    }
}
