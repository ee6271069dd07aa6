import AppComponentsStorage
import Storage
import TestSupport
import Testing

/// Each record's declaration: a value comes back from the column that it was written to.
@Suite struct StoredComponentTests {
    private func lost<Record: StoredRecord>(
        _ type: Record.Type, words: [String: String] = [:]
    ) throws -> [String] {
        let migrator = Schema.migrator(appending: ComponentMigrations.all)
        return try lostColumns(type, in: NamespaceDatabase(path: nil, migrator: migrator), words: words)
    }

    @Test func recordsKeepTheirColumnsApart() throws {
        #expect(try lost(ValidationCodeRecord.self) == [])
        #expect(try lost(WorkflowSessionRecord.self, words: ["environment": "production"]) == ["position: 10 became "])
        #expect(
            try lost(ComponentRunRecord.self, words: ["component": "biometrics", "document_type": "passport"]) == [])
        #expect(try lost(ComponentFileRecord.self, words: ["component": "biometrics"]) == [])
    }
}
