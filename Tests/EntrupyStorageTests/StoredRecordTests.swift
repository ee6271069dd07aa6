import Storage
import TestSupport
import Testing

@testable import EntrupyStorage

/// Each record's declaration: a value comes back from the column that it was written to.
@Suite struct StoredRecordTests {
    private func lost<Record: StoredRecord>(
        _ type: Record.Type, words: [String: String] = [:]
    ) throws -> [String] {
        let migrator = Schema.migrator(appending: EntrupyMigrations.all)
        return try lostColumns(type, in: NamespaceDatabase(path: nil, migrator: migrator), words: words)
    }

    @Test func recordsOfTheEngineKeepTheirColumnsApart() throws {
        #expect(try lost(OrganizationRecord.self) == ["id: 10 became "])
        #expect(try lost(UserRecord.self) == ["id: 10 became "])
        #expect(try lost(EventRecord.self) == ["sequence: 10 became "])
        #expect(try lost(DueRecord.self) == ["id: 10 became "])
        #expect(try lost(SubscriptionRecord.self) == [])
        #expect(try lost(DeliveryRecord.self) == ["position: 10 became "])
        #expect(try lost(AttemptRecord.self) == [])
        #expect(try lost(RuleRecord.self, words: ["kind": "fault"]) == [])
    }

    @Test func recordsOfThePlatformKeepTheirColumnsApart() throws {
        #expect(try lost(PartnerUserRecord.self) == [])
        #expect(try lost(SignedRequestRecord.self) == [])
        #expect(try lost(SessionRecord.self) == [])
        #expect(try lost(CaptureRecord.self) == ["position: 10 became "])
        #expect(try lost(CaptureImageRecord.self) == [])
        #expect(try lost(RetakeRecord.self) == [])
        #expect(try lost(ItemRecord.self) == ["position: 10 became "])
    }
}
