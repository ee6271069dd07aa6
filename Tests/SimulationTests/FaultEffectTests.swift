import Foundation
import SimulationAPI
import Testing

@testable import Simulation

/// An effect that nothing but its own value knows: where an effect is read, offered and judged, no list has its name.
@Suite struct FaultEffectTests {
    private struct SmearingPlatform: SimulatedPlatform {
        let faultEffects = [
            RequestEffect(
                name: "smear", about: "Makes the first bytes of the answer unreadable.", proves: [.handling],
                read: { effect, name in
                    let count = effect.number(name, in: 1...100) ?? 1
                    let rewrite = { @Sendable (body: Data) in Data("???".utf8.prefix(count)) + body.dropFirst(count) }
                    return .init(answer: AnswerEffect(rewrite: rewrite))
                }, note: { route, _ in route.matches("/parcels") ? nil : "only parcels are smeared" })
        ]
    }

    private func server(_ body: (Namespace) async throws -> Void) async throws {
        try await ParcelServer(platform: SmearingPlatform()).run { _, namespace in try await body(namespace) }
    }

    private func add(_ rule: JSONValue, _ namespace: Namespace) async throws -> FaultInfo {
        try await namespace.answer(.success(AddFault(rule)), RequestHead(isControl: true)).result.get()
    }

    /// The fault that a request triggers.
    private func triggered(_ namespace: Namespace) async throws -> TriggeredFault {
        var head = RequestHead()
        head.metadata = RequestMetadata(method: "GET", path: "/parcels", credential: .missing) { _ in [] }
        return try #require(await namespace.answer(.success(ListFaults()), head).outcome?.fault)
    }

    @Test func anEffectIsOfferedWithItsSentence() async throws {
        try await server { namespace in
            let choices = try await namespace.answer(.success(ListChoices()), RequestHead(isControl: true)).result.get()
            let effects = try #require(choices.lists["fault_effects"])
            #expect(effects.map(\.id) == RequestEffect.all.map(\.name) + ["smear"])
            #expect(effects.last?.about == "Makes the first bytes of the answer unreadable.")
            #expect(choices.lists["webhook_effects"]?.map(\.about) == WebhookEffect.all.map(\.about))
            #expect(choices.lists["methods"]?.first?.about == nil)
        }
    }

    @Test func anEffectReadsItsArgumentAndChangesTheAnswer() async throws {
        try await server { namespace in
            #expect(try await add(["effect": ["smear": 2]], namespace).note_details.isEmpty)
            let fault = try await triggered(namespace)
            let rewrite = try #require(fault.effect?.rewrite)
            #expect(rewrite(Data("{\"a\":1}".utf8)) == Data("??a\":1}".utf8))
            #expect(fault.proves == [.handling])
            #expect(fault.effect?.loses(nil, isHead: false) == false)
        }
    }

    @Test func anEffectHasItsProblemsAndNotes() async throws {
        try await server { namespace in
            for effect in [["smear": 0], ["smear": 1, "delay": "1s"], ["smear": 1, "body": "x"]] as [JSONValue] {
                await #expect(throws: PlatformError.self, "\(effect)") {
                    try await add(["effect": effect], namespace)
                }
            }
            let rule = try await add(["match": ["route": "/letters"], "effect": ["smear": 1]], namespace)
            #expect(
                rule.note_details.contains { $0.field == "effect.smear" && $0.problem == "only parcels are smeared" })
        }
    }

    /// An entry of a bundle has the effect's document alone.
    @Test func aDocumentSaysWhatARequestProves() {
        let platforms = Platforms([SmearingPlatform()], standardSeed: "")
        #expect(platforms.proof(of: ["smear": 1]) == [.handling])
        #expect(platforms.proof(of: ["slow_body": 1]) == [.handling, .answer, .success])
        #expect(platforms.proof(of: ["status": 500, "body": "x"]) == [])
        #expect(
            platforms.proof(of: ["of_a_later_version": true]) == [.success] && platforms.proof(of: nil) == [.success])
    }

    /// Each effect for itself: no two have a name, and each has a sentence.
    @Test func namesAreUniqueAndSentencesWhole() {
        for effects in [RequestEffect.all.map { ($0.name, $0.about) }, WebhookEffect.all.map { ($0.name, $0.about) }] {
            #expect(!effects.isEmpty && Set(effects.map(\.0)).count == effects.count)
            for (name, about) in effects { #expect(about.hasSuffix(".") && about.count < 120, "\(name)") }
        }
    }
}
