import EntrupySDK
import EntrupySimTesting
import Foundation
import SimulationAPI
import Testing

/// Market Edge through the SDK: the published models, the callbacks and the errors.
@Suite(.entrupySim(frozenAt: "2026-01-05T09:00:00Z"), .timeLimit(.minutes(10)))
struct MarketEdgeTests {
    @Test func marketDataIsFetchedAndShownOnceThereIsAResult() async throws {
        try await withApp { app, sim in
            try await app.login()
            let item = try await app.submit("sku-1")
            app.sdk.fetchMarketEdgeForItem(withEntrupyID: item.entrupy_id)
            guard case .failed("market edge", .ErrorCodeBadRequest, let text, _) = try await app.next() else {
                throw TestApp.Unexpected(app)
            }
            #expect(text.contains("no final result yet"))
            try await sim.clock.advance(by: "5s")
            app.sdk.fetchMarketEdgeForItem(withEntrupyID: item.entrupy_id)
            guard case .marketEdge(let edge) = try await app.next() else { throw TestApp.Unexpected(app) }
            #expect(edge.identifier.entrupy_id == item.entrupy_id && edge.error == nil)
            let grade = try #require(edge.market_grade?.values)
            #expect(grade.rating_ui_details?.scale.count == 5)
            let listing = try #require(edge.market_match?.values?.first)
            #expect(listing.platform == "Example Market" && edge.market_match?.pending == false)
            #expect(edge.market_value?.price == "\(listing.price) \(try #require(listing.currency))")
            #expect(edge.condition?.values?.rating == grade.rating, "the first model's name")
            #expect(edge.marketplace_listings?.values?.first?.title == listing.title)
            app.sdk.displayMarketEdgeViewForItem(
                withEntrupyID: item.entrupy_id, withConfiguration: EntrupyMarketEdgeViewConfiguration())
            guard case .displayed(item.entrupy_id) = try await app.next(),
                case .dismissed(item.entrupy_id) = try await app.next()
            else { throw TestApp.Unexpected(app) }
        }
    }

    @Test func bothPublishedModelsDecode() async throws {
        try await withApp { app, sim in
            try await app.login()
            let item = try await app.submit("sim-authentic-after-0s")
            app.sdk.fetchMarketEdgeForItem(withEntrupyID: item.entrupy_id)
            guard case .marketEdge = try await app.next() else { throw TestApp.Unexpected(app) }
            let data = try JSONSerialization.data(withJSONObject: try #require(app.fetchedEdge))
            let first = try JSONDecoder().decode(FirstModel.self, from: data)
            #expect(first.identifier.session_uuid.count == 36)
            #expect(first.condition?.values?.rating_ui_details?.selected_rating_index != nil)
            #expect(
                first.marketplace_listings?.values?.count == 1 && first.client_polling_instruction.polling_rate == 0)
            let newest = try JSONDecoder().decode(NewestModel.self, from: data)
            #expect(newest.market_grade?.values != nil && newest.market_match?.values?.count == 1)
            // Without any part, the error says why.
            _ = try await sim.control("PATCH", "/_sim/authentications/\(item.entrupy_id)", ["result": "invalid"])
            app.sdk.fetchMarketEdgeForItem(withEntrupyID: item.entrupy_id)
            guard case .marketEdge(let edge) = try await app.next() else { throw TestApp.Unexpected(app) }
            #expect(edge.error?.ecode == "no_market_data" && edge.error?.show == true && edge.market_grade == nil)
            let empty = try JSONSerialization.data(withJSONObject: try #require(app.fetchedEdge))
            #expect(try JSONDecoder().decode(FirstModel.self, from: empty).condition == nil)
            #expect(try JSONDecoder().decode(NewestModel.self, from: empty).error != nil)
        }
    }

    @Test(arguments: [
        (FaultEffect.status(503), EntrupyErrorCode.ErrorCodeInternalServerError),
        (.status(504), .ErrorCodeServerTimeoutError), (.status(403), .ErrorCodeForbiddenError),
        (.status(400, body: ["error": "e", "sdk_error": "ErrorCodeImageUploadError"]), .ErrorCodeImageUploadError),
        (.rateLimit(), .ErrorCodeTooManyRequests), (.malformedJSON, .ErrorCodeUnknownError),
        (.dropConnection, .ErrorCodeOfflineAccess), (.status(200, body: ["identifier": 7]), .ErrorCodeUnknownError),
        (.status(200, body: [:]), .ErrorCodeUnknownError),
    ])
    func faultsAreReportedByKind(effect: FaultEffect, code: EntrupyErrorCode) async throws {
        try await withApp { app, sim in
            try await app.login()
            let item = try await app.submit("sim-authentic-after-0s")
            try await sim.fault(effect, on: "/sdk/results/*/market-edge")
            app.sdk.fetchMarketEdgeForItem(withEntrupyID: item.entrupy_id)
            guard case .failed("market edge", code, _, _) = try await app.next() else { throw TestApp.Unexpected(app) }
            app.sdk.displayMarketEdgeViewForItem(
                withEntrupyID: item.entrupy_id, withConfiguration: EntrupyMarketEdgeViewConfiguration())
            guard case .failed("market edge view", code, _, _) = try await app.next() else {
                throw TestApp.Unexpected(app)
            }
        }
    }

    @Test func anUnknownItemAndAMissingLoginAreErrors() async throws {
        try await withApp { app, _ in
            app.sdk.fetchMarketEdgeForItem(withEntrupyID: "AAAAAAAA")
            guard case .failed("market edge", .ErrorCodeUnauthorizedAccess, _, _) = try await app.next() else {
                throw TestApp.Unexpected(app)
            }
            try await app.login()
            for (id, code) in [("AAAAAAAA", EntrupyErrorCode.ErrorCodeSearchItemNotFound), ("", .ErrorCodeBadRequest)] {
                app.sdk.fetchMarketEdgeForItem(withEntrupyID: id)
                guard case .failed("market edge", code, _, _) = try await app.next() else {
                    throw TestApp.Unexpected(app)
                }
            }
        }
    }
}

// Strict decoders, by the members that the vendor's interfaces publish [P] and not from our types.

private struct FirstModel: Decodable {
    let identifier: Identifier
    let condition: Section<PublishedReport>?
    let market_value: Price?
    let marketplace_listings: Section<[PublishedListing]>?
    let client_polling_instruction: Polling
    let disclaimer: [String]?
    let error: PublishedError?

    struct Identifier: Decodable {
        let session_uuid: String
        let authentication_id: String
    }
    struct Price: Decodable {
        let pending: Bool
        let price: String?
        let section_description: String
    }
    struct Polling: Decodable {
        let polling_rate: Double
        let number_of_retries: Double
        let error: PublishedError
    }
}

private struct NewestModel: Decodable {
    let identifier: Identifier
    let market_grade: Grade?
    let market_value: Price?
    let market_match: Section<[PublishedListing]>?
    let disclaimer: [String]?
    let error: PublishedError?

    struct Identifier: Decodable { let authentication_id: String }
    struct Grade: Decodable {
        let values: PublishedReport?
        let error: PublishedError?
        let section_description: String
    }
    struct Price: Decodable {
        let price: String?
        let section_description: String
    }
}

private struct Section<Values: Decodable>: Decodable {
    let pending: Bool
    let values: Values?
    let error: PublishedError?
    let section_description: String
}

private struct PublishedReport: Decodable {
    let rating: String
    let issues: [String]?
    let details: [Detail]?
    let rating_explanation: String
    let rating_ui_details: Scale?

    struct Detail: Decodable {
        let item_region_display_name: String
        let description: String
    }
    struct Scale: Decodable {
        let title: String
        let selected_rating_index: Int?
        let scale: [Step]
    }
    struct Step: Decodable { let color: String }
}

private struct PublishedListing: Decodable {
    let title: String
    let platform: String
    let category: String
    let price: String
    let time_of_report: Double
    let currency: String?
    let link: String?
}

private struct PublishedError: Decodable {
    let message: String
    let show: Bool
    let retry: Bool?
    let ecode: String?
}
