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
        #expect(
            try lost(CaptureRecord.self, words: ["config_type": "debug", "activity": "fingerprint_compare"]) == [
                "position: 10 became "
            ])
        #expect(try lost(CaptureImageRecord.self) == [])
        #expect(try lost(RetakeRecord.self) == [])
        let words = [
            "config_type": "debug", "activity": "fingerprint_compare", "decided_by": "flag_resolution",
            "form_factor": "lightbox",
        ]
        #expect(try lost(ItemRecord.self, words: words) == ["position: 10 became "])
    }

    /// A value that this program never writes, as in a file that something else has changed.
    @Test func aWordThatIsNoneOfAColumnIsAnErrorThatNamesIt() throws {
        let database = try NamespaceDatabase(path: nil, migrator: Schema.migrator(appending: EntrupyMigrations.all))
        try database.transaction { transaction in
            let organization = try transaction.insertOrganization(name: "Org", sdkFlagging: true)
            let user = try transaction.insertUser(
                organizationID: organization, username: "a", uniqueUserID: "a", email: nil, firstName: nil,
                lastName: nil, isTestUser: false, createdAt: .epoch)
            try transaction.insert(
                CaptureRecord(
                    id: "cap_1", userID: user, configType: .debug, category: "sneakers", item: "{}", startedAt: .epoch,
                    expiresAt: .epoch))
            #expect(try transaction.capture(id: "cap_1")?.configType == .debug)
            try transaction.run("UPDATE captures SET config_type = 'quick'")
            let error = #expect(throws: StorageError.self) { try transaction.capture(id: "cap_1") }
            #expect(error?.description == "the column config_type has \"quick\", which is no ConfigType")
        }
    }
}
