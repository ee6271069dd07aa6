import SimulationAPI
import TestSupport
import Testing

@testable import Entrupy
@testable import Simulation

/// An item as the versions of the partner API show it [P].
@Suite struct PartnerRenderingTests {
    private func shown(
        _ bench: RuleBench, _ id: String, _ version: PartnerVersion, _ parts: PartnerParts = PartnerParts()
    )
        async throws -> JSONValue
    {
        let answer = try await bench.partner(ShowPartnerItem(id, version, parts))
        let value = try WireJSON.decode(JSONValue.self, from: .init(buffer: answer.bytes))
        return try #require(value.members?["item"])
    }

    @Test func anItemUnderReviewHasNoCertificateAndNoInitialResult() async throws {
        let bench = try await RuleBench()
        let id = try await bench.submit(bench.login(), "sim-needs_review")
        let v1 = try await shown(bench, id, .v1(minor: 3))
        #expect(v1["certificate"] == .null && v1["status.result.final"] == false)
        let v2 = try await shown(bench, id, .v2)
        #expect(v2["certificate"] == .null && v2["status.initial_result"] == .null)
        #expect(v2["status.flag"] == .null && v2["images"] == .null && v2["catalog"] == .null)
    }

    @Test func anAuthenticItemHasACertificateInEveryVersion() async throws {
        let bench = try await RuleBench()
        let id = try await bench.submit(bench.login(), "sim-authentic-after-0s")
        let certificate = try #require(try await bench.item(id).certificateID)
        #expect(try await shown(bench, id, .v2)["certificate.certificate_id"].text == certificate)
        let site = try await shown(bench, id, .v1(minor: 3))["certificate.site"].text
        #expect(site?.contains(certificate) == true)
    }

    @Test func aReasonIsShownFromVersionOneTwoOn() async throws {
        let bench = try await RuleBench()
        let id = try await bench.submit(bench.login(), "sim-invalid-after-0s")
        #expect(try await shown(bench, id, .v1(minor: 1))["status.result.reason"] == .null)
        #expect(try await shown(bench, id, .v1(minor: 2))["status.result.reason"] != .null)
    }

    @Test func aProductCategoryIsShownFromVersionOneThreeOn() async throws {
        let bench = try await RuleBench()
        let id = try await bench.submit(bench.login(), "a")
        #expect(try await shown(bench, id, .v1(minor: 2))["activity.product_category"] == .null)
        #expect(try await shown(bench, id, .v1(minor: 3))["activity.product_category"] == "sneakers")
    }

    @Test func imagesAndCatalogueAreShownOnRequest() async throws {
        let bench = try await RuleBench()
        let id = try await bench.submit(bench.login(), "a")
        let item = try await shown(bench, id, .v2, PartnerParts(images: true, catalog: true))
        #expect(item["images"] != .null && item["catalog.product_information.brand"] != .null)
    }
}
