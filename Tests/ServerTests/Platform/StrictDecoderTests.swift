import Foundation
import SimulationAPI
import TestSupport
import Testing

/// A client's strict decoder, written from section 5 of the contract and not from our wire types. In every EntrupyCaptureResult
/// each non-optional member must be present and have its type.
@Suite struct StrictDecoderTests {
    struct CaptureResult: Decodable {
        let authentication_id: String
        let entrupy_id: String
        let properties: Properties
        let status: Status
        let timestamp: Time
        let event_times: Times
        let events: [Event]?
        let images: Images?
        let more_details: Details?
        let text_fields: [Field]?
        let user: User?
        let price: Price?

        struct Properties: Decodable {
            let brand: Named
            let model: Named?
            let function: Identified?
        }
        struct Named: Decodable {
            let id: String
            let display: Names
        }
        /// An object with string values. Only a name is read.
        struct Names: Decodable {
            let name: String
            let all: [String: String]

            init(from decoder: any Decoder) throws {
                all = try decoder.singleValueContainer().decode([String: String].self)
                guard let name = all["name"] else {
                    throw DecodingError.valueNotFound(String.self, .init(codingPath: [], debugDescription: "name"))
                }
                self.name = name
            }
        }
        struct Identified: Decodable { let id: String }
        struct Status: Decodable {
            let flag: Flag
            let result: Result
        }
        struct Flag: Decodable {
            let id: String
            let is_flaggable: Bool
        }
        struct Result: Decodable {
            let id: String
            let display: Display
            let final: Bool
        }
        struct Display: Decodable {
            let header: String
            let message: String?
            let reasons: [Reason]?
        }
        struct Reason: Decodable {
            let image: String?
            let text: String?
        }
        struct Time: Decodable {
            let display: String
            let epoch: Double
        }
        struct Times: Decodable {
            let submitted_at: Time?
            let result_returned_at: Time?
            let initial_result_set_at: Time?
            let capture_started_at: Time?
        }
        struct Event: Decodable {
            let label: String
            let title: String
            let type: String
            let message: String?
            let timestamp: Time
        }
        struct Images: Decodable {
            let item_photo: URL?
            let uploaded_images: [Image]?
        }
        struct Image: Decodable {
            let urls: URLs
            let display_name: String
        }
        struct URLs: Decodable {
            let original: URL
            let scale_micro: URL
        }
        struct Details: Decodable { let certificate: Certificate }
        struct Certificate: Decodable {
            let preview: URL?
            let site: URL?
        }
        struct Field: Decodable {
            let display_name: String
            let editable: Bool
            let required: Bool
            let is_identifier: Bool
            let content: String?
            let region_id: String?
        }
        struct User: Decodable { let username: String }
        struct Price: Decodable { let show_pricing_widget: Bool }
    }

    struct SearchResult: Decodable {
        let items: [CaptureResult]
        let item_count: Int
        let next_cursor: [String]
    }

    private func decode(_ answer: TestWorld.Answer) throws -> CaptureResult {
        #expect(answer.status == 200)
        let result = try JSONDecoder().decode(CaptureResult.self, from: answer.body)
        check(result)
        return result
    }

    /// Checks rules that a decoder does not check.
    private func check(_ result: CaptureResult) {
        #expect(result.authentication_id == result.entrupy_id)
        for time in [result.timestamp, result.event_times.submitted_at].compactMap(\.self) {
            let date = try? Date(
                time.display,
                strategy: .iso8601.year().month().day().time(includingFractionalSeconds: true).timeZone(
                    separator: .omitted))
            #expect(date.map { abs($0.timeIntervalSince1970 - time.epoch) < 0.001 } == true, "\(time.display)")
        }
        #expect(result.event_times.submitted_at?.epoch == result.timestamp.epoch)
        #expect(result.event_times.result_returned_at != nil || !result.status.result.final)
        #expect((result.more_details != nil) == (result.status.result.id == "authentic"))
        #expect((result.status.result.display.reasons?.isEmpty == false) == (result.status.result.id == "invalid"))
    }

    @Test(arguments: [
        "sim-authentic", "sim-unknown", "sim-invalid", "sim-not_supported", "sim-needs_review",
        "sim-authentic-after-0s",
    ])
    func readsEveryResultFromSubmissionToFlag(id: String) async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        let capture = try await world.readyCapture(
            token, item: ["brand": "Nike", "style_name": "Air Max", "customer_item_id": .string(id), "us_size": 9.5])
        let submitted = try decode(try await world.send("POST", "/sdk/captures/\(capture)/submit", token: token))
        #expect(submitted.images?.uploaded_images?.count == 8)
        let photo = try #require(submitted.images?.item_photo)
        #expect(photo.absoluteString.hasPrefix(world.base))
        #expect(submitted.text_fields?.contains { $0.is_identifier && $0.content == id } == true)
        #expect(submitted.user?.username == "DemoOrg-example-user-id")

        try await world.advance("5s")
        let result = try decode(try await world.result(submitted.entrupy_id, token))
        #expect(result.status.result.final == (id != "sim-needs_review"))
        #expect(result.timestamp.epoch == submitted.timestamp.epoch, "the submission's time never changes")

        if result.status.flag.is_flaggable {
            _ = try await world.send(
                "PUT", "/sdk/results/\(result.entrupy_id)/flag", ["flag": true, "message": "hm"], token: token)
            let flagged = try decode(try await world.result(result.entrupy_id, token))
            #expect(flagged.status.flag.id == "flagged")
            #expect(flagged.events?.last?.message == "hm")
        }
    }

    @Test(
        arguments: [
            ["product_category": "luxury", "brand": "Gucci", "item_type": "handbag"],
            ["product_category": "apparel", "brand": "Dior", "item_type": "shirt"],
            ["brand": "Never Heard Of", "style_name": "x"],
            ["brand": "Nike", "style_name": "日本語 é 👟", "more": ["a": [1, nil]]],
        ] as [JSONValue])
    func readsEveryKindOfItem(item: JSONValue) async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        for type in ["production", "debug"] {
            let id = try await world.submit(token, item: item, type: type)
            try await world.advance("1h")
            let result = try decode(try await world.result(id, token))
            #expect((result.status.result.id == "invalid") == (type == "debug"))
            #expect((result.properties.function != nil) == (item["product_category"] == "apparel"))
        }
    }

    @Test func readsEveryPageOfASearchAndItemsMadeWithoutACapture() async throws {
        let world = try await TestWorld.make()
        for (index, result) in ["authentic", "unknown", "not_supported", "needs_review", "invalid"].enumerated() {
            let made = try await world.send(
                "POST", "/_sim/authentications",
                [
                    "count": 3,
                    "template": [
                        "result": .string(result), "flag": .string(index.isMultiple(of: 2) ? "none" : "flagged"),
                        "customer_item_id": "x-{n}", "username": "DemoOrg-example-user-id",
                    ],
                ])
            #expect(made.status == 201)
        }
        let token = try await world.login()
        var cursor: JSONValue = []
        var count = 0
        repeat {
            let answer = try await world.send("POST", "/sdk/search", ["limit": 4, "cursor": cursor], token: token)
            let page = try JSONDecoder().decode(SearchResult.self, from: answer.body)
            page.items.forEach(check)
            #expect(page.items.count == page.item_count)
            count += page.item_count
            cursor = .array(page.next_cursor.map { .string($0) })
        } while cursor != []
        #expect(count == 15)
    }
}
