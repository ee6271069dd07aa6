import EntrupyAPI
import Foundation
import SimulationAPI
import Storage
import TestSupport
import Testing

@testable import Entrupy
@testable import Simulation

/// A rendering is kept under keys without a time, so it must be the same at all times.
@Suite struct RenderingClockTests {
    /// Every form of an item, in every language.
    private func renderings(_ ids: [String], _ bench: RuleBench) async throws -> [Data] {
        try await bench.job { job in
            try ids.flatMap { id in
                let item = try #require(try job.transaction.item(entrupyID: id))
                let partner = try PartnerRendering(item, job)
                return [try WireJSON.encode(ResultRendering(job).render(item))]
                    + (try (0...PartnerVersion.lastMinor).map { try WireJSON.encode(partner.v1(minor: $0)) })
                    + [try WireJSON.encode(partner.v2(PartnerParts(images: true, catalog: true)))]
            }
        }
    }

    /// One item of each result, and those that something goes on with: a flag, a retake, a planned result.
    @Test func aRenderingIsTheSameYearsLater() async throws {
        let bench = try await RuleBench(settings: ["flagging": ["window": "1h"]])
        let user = try await bench.login()
        var ids: [String] = []
        for name in [
            "authentic-after-0s", "unknown-after-0s", "invalid-after-0s", "not_supported-after-0s", "needs_review",
        ] {
            ids.append(try await bench.submit(user, "sim-\(name)"))
        }
        ids.append(try await bench.submit(user, "sim-authentic-after-0s-flagged"))
        _ = try await bench.user(SetFlag(entrupyID: ids[5], request: SetFlagRequest(flag: true)), user)
        ids.append(try await bench.submit(user, "sim-authentic-after-0s-resolved"))
        _ = try await bench.user(SetFlag(entrupyID: ids[6], request: SetFlagRequest(flag: true)), user)
        _ = try await bench.control(ResolveFlag(ids[6], note: "Seen again", result: nil))
        ids.append(try await bench.submit(user, "sim-needs_review-asked"))
        _ = try await bench.control(AskForRetake(entrupyID: ids[7], request: RetakeRequest()))
        ids.append(try await bench.submit(user, "sim-authentic-after-800000h"))
        let before = try await renderings(ids, bench)
        await bench.wait("700000h")
        let after = try await renderings(ids, bench)
        #expect(before.count == ids.count * (PartnerVersion.lastMinor + 3) && before == after)
    }
}
