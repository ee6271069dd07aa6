import EntrupyAPI
import Foundation
import NIOFoundationCompat
import SimulationAPI
import Storage
import TestSupport
import Testing

@testable import Entrupy
@testable import Simulation

/// Flags [S]: who may set them, on what, and what follows.
@Suite struct FlagRuleTests {
    private func set(_ bench: RuleBench, _ id: String, _ user: Credential, _ flag: Bool = true, reason: String? = nil)
        async throws -> FlagDetails
    {
        try await bench.user(SetFlag(entrupyID: id, request: SetFlagRequest(flag: flag, flag_reason_id: reason)), user)
    }

    @Test func aFinalAuthenticResultIsFlaggedAndCleared() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let id = try await bench.submit(user, "sim-authentic-after-0s")
        let flagged = try await set(bench, id, user)
        #expect(flagged.id == .flagged && flagged.is_flaggable && flagged.flag_status.flag_info?.flagged_at != nil)
        #expect(await refusal { try await set(bench, id, user) } == .wrongState)
        let cleared = try await set(bench, id, user, false)
        #expect(cleared.id == .unflagged && cleared.flag_status.flag_info == nil)
        #expect(await refusal { try await set(bench, id, user, false) } == .wrongState)
    }

    @Test(arguments: ["sim-invalid-after-0s", "sim-not_supported-after-0s", "sim-needs_review"])
    func otherResultsAreNotEligible(item: String) async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let id = try await bench.submit(user, item)
        #expect(await refusal { try await set(bench, id, user) } == .invalid)
        #expect(await refusal { try await set(bench, id, user, false) } == .invalid, "before the flag's state")
        #expect(try await bench.user(ByID<ShowFlag>(id), user).is_flaggable == false)
    }

    @Test func aResultThatIsNotFinalYetIsNotEligible() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let id = try await bench.submit(user, "sim-authentic-after-1h")
        #expect(await refusal { try await set(bench, id, user) } == .invalid)
        #expect(await refusal { try await set(bench, id, user, false) } == .invalid)
        #expect(try await bench.user(ByID<ShowFlag>(id), user).is_flaggable == false)
        await bench.wait("1h")
        #expect(try await set(bench, id, user).id == .flagged)
    }

    /// The order of checks: the request, then the item, then the permission.
    @Test func theRequestAndTheItemAreCheckedBeforeThePermission() async throws {
        let bench = try await RuleBench(settings: ["flagging": ["sdk": false]])
        let user = try await bench.login()
        #expect(await refusal { try await set(bench, "NOPE2345", user, reason: "because") } == .invalid)
        #expect(await refusal { try await set(bench, "NOPE2345", user) } == .notFound)
    }

    /// The order of checks: permission before eligibility.
    @Test func permissionIsCheckedBeforeEligibility() async throws {
        let bench = try await RuleBench(settings: ["flagging": ["sdk": false]])
        let user = try await bench.login()
        let eligible = try await bench.submit(user, "sim-authentic-after-0s-a")
        let ineligible = try await bench.submit(user, "sim-invalid-after-0s-b")
        #expect(await refusal { try await set(bench, eligible, user) } == .forbidden)
        #expect(await refusal { try await set(bench, ineligible, user) } == .forbidden)
        #expect(await refusal { try await set(bench, ineligible, user, false) } == .forbidden)
        #expect(try await bench.user(ByID<ShowFlag>(eligible), user).is_flaggable == false)
    }

    /// `is_flaggable` of every answer that has it: the result from the store and from memory, searches, the flag, the control API.
    private func shown(_ bench: RuleBench, _ id: String, _ user: Credential) async throws -> [Bool] {
        var shown: [Bool] = []
        for language in [Language.english, .english, .japanese] {
            let result = try await bench.user(ShowResult(id), user, language)
            shown.append(
                try JSONDecoder().decode(EntrupyCaptureResult.self, from: result.bytes).status.flag.is_flaggable)
        }
        let search = SearchRequest(cursor: nil, filters: [], start_date: 0, end_date: 0, limit: 5)
        let page = try await bench.user(SearchSubmissions(search), user)
        shown.append(String(buffer: page.bytes).contains(#""is_flaggable":true"#))
        shown.append(try await bench.user(ByID<ShowFlag>(id), user).is_flaggable)
        let info = try await bench.control(ByID<ShowAuthentication>(id))
        return shown + [info.flag.is_flaggable, info.sdk.status.flag.is_flaggable]
    }

    @Test func aWindowEndsWithoutAChangeOfTheItem() async throws {
        let bench = try await RuleBench(settings: ["flagging": ["window": "720h"]])
        var user = try await bench.login()
        let id = try await bench.submit(user, "sim-authentic-after-1h")
        await bench.wait("1h")
        #expect(try await shown(bench, id, user) == Array(repeating: true, count: 7))
        await bench.wait("719h")
        // The session is over by then.
        user = try await bench.login()
        #expect(
            try await set(bench, id, user).id == .flagged, "the window begins with the result, not with the submission")
        await bench.wait("1h")
        #expect(try await shown(bench, id, user) == Array(repeating: false, count: 7))
        #expect(await refusal { try await set(bench, id, user, false) } == .invalid)
        #expect(await refusal { try await bench.partner(FlagPartnerItem(id, nil)) } == .invalid)
        _ = try await bench.control(PatchSettings(["flagging": ["window": .null]]))
        #expect(try await shown(bench, id, user) == Array(repeating: true, count: 7))
        #expect(try await set(bench, id, user, false).id == .unflagged)
    }

    @Test func anItemOfAnotherUserLooksLikeAMissingOne() async throws {
        let bench = try await RuleBench()
        let (owner, other) = (try await bench.login(), try await bench.login("other-user"))
        let id = try await bench.submit(owner, "sim-authentic-after-0s")
        #expect(await refusal { try await set(bench, id, other) } == .notFound)
        #expect(await refusal { try await bench.user(ByID<ShowFlag>(id), other) } == .notFound)
    }

    @Test func aReasonMustBeOneOfTheSeeds() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let id = try await bench.submit(user, "sim-authentic-after-0s")
        #expect(await refusal { try await set(bench, id, user, reason: "because") } == .invalid)
        #expect(try await set(bench, id, user, reason: "wrong_metadata").flag_status.flag_info?.id == "wrong_metadata")
    }

    @Test func resolvingMayChangeTheResultAndSendsOneUpdate() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let id = try await bench.submit(user, "sim-authentic-after-0s")
        _ = try await bench.subscribe()
        #expect(await refusal { try await bench.control(ResolveFlag(id, note: "n", result: nil)) } == .wrongState)
        _ = try await set(bench, id, user)
        #expect(try await bench.deliverAll() == ["session.updated"])
        let resolved = try await bench.control(ResolveFlag(id, note: "Seen again", result: .unknown))
        #expect(resolved.result.id == .unknown && resolved.flag.id == .resolved)
        #expect(resolved.flag.flag_info?.note == "Seen again" && resolved.flag.flag_info?.resolved_at != nil)
        #expect(try await bench.deliverAll() == ["session.updated"])
    }

    @Test func aResolvedFlagMayBeSetAgainAndIsThenUnresolved() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let id = try await bench.submit(user, "sim-authentic-after-0s")
        _ = try await set(bench, id, user)
        _ = try await bench.control(ResolveFlag(id, note: "Seen again", result: nil))
        await bench.wait("1m")
        let again = try await set(bench, id, user)
        let info = try #require(again.flag_status.flag_info)
        #expect(again.id == .flagged && info.flagged_at == RuleBench.morning.epoch + 60)
        #expect(info.note == nil && info.resolved_at == nil)
    }

    @Test func aFlagIsNotResolvedWithAResultOfComparisons() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let id = try await bench.submit(user, "sim-authentic-after-0s")
        _ = try await set(bench, id, user)
        #expect(await refusal { try await bench.control(ResolveFlag(id, note: "n", result: .match)) } == .invalid)
        #expect(try await bench.item(id).flag == .flagged)
    }

    @Test func resolvingWithThePresentResultChangesNoResult() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let id = try await bench.submit(user, "sim-authentic-after-0s")
        _ = try await set(bench, id, user)
        await bench.wait("1m")
        let resolved = try await bench.control(ResolveFlag(id, note: "n", result: .authentic))
        #expect(resolved.timeline.map(\.event) == ["item.submitted", "result.set", "flag.set", "flag.resolved"])
        #expect(resolved.decided_by == "magic_customer_item_id")
        #expect(resolved.v2.status.initial_result?.id == .authentic)
    }

    @Test(arguments: Language.allCases)
    func reasonsAreInTheUsersLanguage(language: Language) async throws {
        let labels = try Seed.standard().entrupy.catalogue.texts.flagReasons.map { $0.label[language] }
        let bench = try await RuleBench()
        let user = try await bench.login()
        let id = try await bench.submit(user, "sim-authentic-after-0s")
        let flagged = try await bench.user(SetFlag(entrupyID: id, request: SetFlagRequest(flag: true)), user, language)
        #expect(flagged.flag_status.flag_info?.label == labels.first)
        #expect(flagged.supported_flag_reasons.map(\.label) == labels)
    }

    @Test func thePartnerFlagsByTheSameRules() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let id = try await bench.submit(user, "sim-authentic-after-0s-a")
        let review = try await bench.submit(user, "sim-needs_review-b")
        let request = PartnerFlagRequest(reason: "It looks wrong", comments: nil)
        _ = try await bench.partner(FlagPartnerItem(id, request))
        #expect(try await bench.item(id).flag == .flagged)
        #expect(await refusal { try await bench.partner(FlagPartnerItem(id, request)) } == .wrongState)
        #expect(await refusal { try await bench.partner(FlagPartnerItem(review, request)) } == .invalid)
        #expect(
            await refusal { try await bench.partner(FlagPartnerItem(id, request), RuleBench.otherPartner) } == .notFound
        )
        _ = try await bench.partner(FlagPartnerItem(id, nil))
        #expect(try await bench.item(id).flag == .unflagged)
    }

    /// A text that names no known reason is the message itself, so empty comments must not add blank lines to it.
    @Test func emptyCommentsOfThePartnerCountAsAbsent() async throws {
        let bench = try await RuleBench()
        let id = try await bench.submit(bench.login(), "sim-authentic-after-0s")
        for (reason, comments, message) in [
            ("Looks odd", "", "Looks odd"), ("Looks odd", "Twice", "Looks odd\n\nTwice"), ("wrong_metadata", "", nil),
            ("wrong_metadata", "Twice", "Twice"),
        ] as [(String, String, String?)] {
            let request = PartnerFlagRequest(reason: reason, comments: comments)
            _ = try await bench.partner(FlagPartnerItem(id, request))
            #expect(try await bench.item(id).flagMessage == message, "\(reason), \(comments)")
            _ = try await bench.partner(FlagPartnerItem(id, nil))
        }
    }

    // MARK: Flags that the control API forces

    /// A receiver learns of a flag whoever changed it.
    @Test func aForcedFlagSendsAnUpdate() async throws {
        let bench = try await RuleBench()
        let id = try await bench.submit(bench.login(), "sim-authentic-after-0s")
        _ = try await bench.subscribe()
        for flag in [FlagID.flagged, .resolved, .unflagged] {
            _ = try await bench.control(PatchAuthentication(entrupyID: id, flag: flag))
            #expect(try await bench.deliverAll() == ["session.updated"], "\(flag.rawValue)")
        }
        _ = try await bench.control(PatchAuthentication(entrupyID: id, flag: .unflagged))
        #expect(try await bench.deliverAll() == [], "the item has this flag already")
    }

    @Test func aForcedFlagIsUnresolvedUntilItIsForcedToBeResolved() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let id = try await bench.submit(user, "sim-authentic-after-0s")
        _ = try await set(bench, id, user)
        _ = try await bench.control(ResolveFlag(id, note: "Seen again", result: nil))
        _ = try await bench.control(PatchAuthentication(entrupyID: id, flag: .flagged))
        let flagged = try await bench.item(id)
        #expect(flagged.flag == .flagged && flagged.flagResolvedAt == nil && flagged.flagNote == nil)
        await bench.wait("1m")
        _ = try await bench.control(PatchAuthentication(entrupyID: id, flag: .resolved))
        let resolved = try await bench.item(id)
        #expect(resolved.flagResolvedAt == RuleBench.morning + .minute && resolved.flaggedAt == RuleBench.morning)
        _ = try await bench.control(PatchAuthentication(entrupyID: id, flag: .unflagged))
        let cleared = try await bench.item(id)
        #expect(cleared.flaggedAt == nil && cleared.flagResolvedAt == nil && cleared.flagReasonID == nil)
    }

    @Test(arguments: [[:], ["note": ""], ["note": 1], ["note": "x", "result": "real"]] as [JSONValue])
    func aResolutionNeedsANoteAndAKnownResult(body: JSONValue) async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let id = try await bench.submit(user, "sim-authentic-after-0s")
        _ = try await set(bench, id, user)
        let sent = bench.sent(body, path: ["entrupy_id": id])
        #expect(await refusal { try await bench.control(ResolveFlag(sent)) } == .invalid)
        #expect(try await bench.user(ByID<ShowFlag>(id), user).id == .flagged)
    }

    /// An app must cope with a flag that its version does not know.
    @Test func theControlAPISetsAnyFlag() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let id = try await bench.submit(user, "sim-authentic-after-0s")
        let sent = bench.sent(["flag": "escalated"], path: ["entrupy_id": id])
        _ = try await bench.control(PatchAuthentication(sent))
        #expect(try await bench.user(ByID<ShowFlag>(id), user).id.rawValue == "escalated")
        #expect(try await bench.control(ByID<ShowAuthentication>(id)).sdk.status.flag.id.rawValue == "escalated")
        #expect(await refusal { try await set(bench, id, user) } == .wrongState)
        #expect(await refusal { try await set(bench, id, user, false) } == .wrongState)
    }
}
