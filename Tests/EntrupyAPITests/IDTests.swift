import EntrupyAPI
import Foundation
import Testing

/// Ids of results, flags and states: the known ones have names, others pass through unchanged.
@Suite struct IDTests {
    @Test func everyDocumentedIDIsItsOwnText() {
        #expect(
            ResultID.allCases.map(\.rawValue) == [
                "authentic", "unknown", "not_supported", "needs_review", "invalid", "analyzed", "match",
                "no_match", "registered", "canceled", "data_required", "not_available", "registration_invalid",
                "registration_not_supported", "match_found", "no_match_found", "received",
            ])
        #expect(FlagID.allCases.map(\.rawValue) == ["none", "flagged", "resolved"])
        #expect(Capture.Status.allCases.map(\.rawValue) == ["started", "submitted", "cancelled", "timed_out"])
        #expect(ResultID.allCases.map(\.rawValue).map(ResultID.init(rawValue:)) == ResultID.allCases)
        #expect(FlagID.allCases.map(\.rawValue).map(FlagID.init(rawValue:)) == FlagID.allCases)
        #expect(Capture.Status.allCases.map(\.rawValue).map(Capture.Status.init(rawValue:)) == Capture.Status.allCases)
    }

    @Test func anIDFromALaterPlatformPassesThrough() throws {
        let sent = Data(#"{"id":"escalated","is_flaggable":true}"#.utf8)
        let flag = try JSONDecoder().decode(ResultFlag.self, from: sent)
        #expect(flag.id == .other("escalated"))
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        #expect(try encoder.encode(flag) == sent)
        #expect(try JSONDecoder().decode([ResultID].self, from: Data(#"["analyzed"]"#.utf8)) == [.other("analyzed")])
        #expect(
            try JSONDecoder().decode([Capture.Status].self, from: Data(#"["timed_out","held"]"#.utf8)) == [
                .timedOut, .other("held"),
            ])
    }
}
