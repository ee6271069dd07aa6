import EntrupyAPI
import SimulationAPI
import TestSupport
import Testing

@testable import Entrupy
@testable import Simulation

/// An item as the versions of the partner API show it [P].
@Suite struct PartnerRenderingTests {
    private func shown(
        _ bench: RuleBench, _ id: String, _ version: PartnerVersion, _ parts: PartnerParts = PartnerParts(),
        in language: Language = .english
    ) async throws -> JSONValue {
        let answer = try await bench.partner(ShowPartnerItem(id, version, parts), RuleBench.partner, language)
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
        let id = try await bench.generate(["result": "invalid", "form_factor": "microscopic"])[0]
        #expect(try await shown(bench, id, .v1(minor: 1))["status.result.reason"] == .null)
        #expect(try await shown(bench, id, .v1(minor: 2))["status.result.reason"] != .null)
    }

    @Test func aProductCategoryIsShownFromVersionOneThreeOn() async throws {
        let bench = try await RuleBench()
        let id = try await bench.submit(bench.login(), "a")
        #expect(try await shown(bench, id, .v1(minor: 2))["activity.product_category"] == .null)
        #expect(try await shown(bench, id, .v1(minor: 3))["activity.product_category"] == "sneakers")
    }

    @Test func imagesAndCatalogueAreShownOnRequestEachByItself() async throws {
        let bench = try await RuleBench()
        let id = try await bench.submit(bench.login(), "a")
        for (images, catalog) in [(true, true), (true, false), (false, true)] {
            let item = try await shown(bench, id, .v2, PartnerParts(images: images, catalog: catalog))
            #expect((item["images"] != .null) == images, "\(item)")
            #expect((item["catalog.product_information.brand"] != .null) == catalog, "\(item)")
        }
    }

    @Test func theTimeOfTheLastChangeIsShown() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let id = try await bench.submit(user, "sim-authentic-after-0s")
        await bench.wait("3600.999s")
        _ = try await bench.user(SetFlag(entrupyID: id, request: SetFlagRequest(flag: true)), user)
        let item = try await shown(bench, id, .v2)
        #expect(item["timestamp.created_at"] == "2026-01-05T09:00:00Z")
        #expect(item["timestamp.last_updated_at"] == "2026-01-05T10:00:00Z", "rounded down")
        #expect(try await shown(bench, id, .v1(minor: 4))["timestamp.display"] == "2026-01-05T09:00:00.000000Z")
        let later = try await shown(bench, bench.submit(user, "b"), .v2)
        #expect(later["status.eta.display"] == "2026-01-05T10:00:05Z")
    }

    /// Both samples of the vendor have it so.
    @Test func theFirstResultIsNeverFinal() async throws {
        let bench = try await RuleBench()
        let id = try await bench.submit(bench.login(), "sim-authentic-after-0s")
        #expect(try await shown(bench, id, .v2)["status.initial_result"] == ["id": "authentic", "final": false])
        #expect(try await shown(bench, id, .v2)["status.result"] == ["id": "authentic", "final": true])
    }

    @Test func sparseItemsLackWhatSaysNothing() async throws {
        let bench = try await RuleBench(settings: ["partner": ["sparse_items": true]])
        let user = try await bench.login()
        for sku in ["sim-authentic-after-0s", "sim-needs_review"] {
            let item = try await shown(bench, bench.submit(user, sku), .v2)
            let members = try #require(item.members)
            for name in ["certificate", "images", "catalog", "fingerprint_parent"] { #expect(members[name] == nil) }
            #expect(item["timestamp"].members?.keys.sorted() == ["created_at"])
            let properties = try #require(item["properties"].members)
            #expect(properties["brand"] == nil && properties["category"] == nil && properties["material"] == nil)
            #expect(properties["brand_name"] != nil && properties["category_name"] != nil)
            #expect((item["status"].members?["initial_result"] == nil) == (sku == "sim-needs_review"))
            #expect(item["status"].members?["flag"] == nil && item["activity.mode"] == "standard_authentication")
        }
        let all = PartnerParts(images: true, catalog: true)
        let whole = try await shown(bench, bench.submit(user, "b"), .v2, all)
        #expect(whole["catalog"] != .null && whole["images.uploaded_images"] != .null)
    }

    @Test(arguments: [[Language.japanese, .english], [.english, .japanese]])
    func textsAreInTheCallersLanguageWhicheverIsAskedForFirst(languages: [Language]) async throws {
        let catalogue = try Seed.standard().entrupy.catalogue
        let header = try #require(catalogue.texts.result(.authentic)).header
        let type = try #require(catalogue.itemTypes.type(matching: "hoodie"))
        let step = try #require(catalogue.category(Catalogue.apparel)?.production.first)
        let bench = try await RuleBench()
        let user = try await bench.login()
        let item: JSONObject = [
            "brand": "Nike", "item_type": "hoodie", "customer_item_id": "sim-authentic-after-0s",
        ]
        let capture = try await bench.user(StartCapture(StartCaptureRequest(item: item)), user).captureID
        try await bench.upload(capture, user)
        let id = try await bench.user(ByID<SubmitCapture>(capture), user).entrupy_id
        for language in languages {
            let v1 = try await shown(bench, id, .v1(minor: 4), in: language)
            #expect(v1["status.result.display.header"].text == header[language])
            #expect(v1["properties.item_type.display.name"].text == type.name(language))
            let v2 = try await shown(bench, id, .v2, PartnerParts(images: true), in: language)
            #expect(v2["properties.category"].text == type.name(language))
            #expect(v2["images.uploaded_images.0.display_name"].text == step.displayName[language])
        }
    }

    @Test(arguments: Language.allCases)
    func theDetailsOfMaterialsAreNamedInTheCallersLanguage(language: Language) async throws {
        let texts = try Seed.standard().entrupy.catalogue.texts.textFields
        let bench = try await RuleBench()
        let config = try await bench.partner(FetchPartnerConfiguration(), RuleBench.partner, language).config
        let nike = try #require(config.brands.first { $0.brand_id == "nike" })
        // Sneakers need a style name, apparel an item type.
        #expect(
            Set(nike.materials.flatMap(\.details).map(\.display.name))
                == Set(["style_name", "item_type"].compactMap { texts[$0]?[language] }))
    }
}
