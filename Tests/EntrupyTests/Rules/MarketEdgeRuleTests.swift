import EntrupyAPI
import EntrupyStorage
import SimulationAPI
import Testing

@testable import Entrupy
@testable import Simulation

/// The market data of items [D market-edge].
@Suite struct MarketEdgeRuleTests {
    private func edge(
        _ bench: RuleBench, _ id: String, _ user: Credential, _ language: Language = .english
    ) async throws -> JSONValue {
        .object(
            try #require(
                WireJSON.decode(
                    JSONValue.self, from: WireJSON.encode(await bench.user(ByID<ShowMarketEdge>(id), user, language))
                ).members))
    }

    private func give(_ bench: RuleBench, _ id: String, _ given: JSONObject) async throws {
        _ = try await bench.control(PatchAuthentication(entrupyID: id, marketEdge: .given(given)))
    }

    /// An authentic item of a user.
    private func authentic(_ bench: RuleBench) async throws -> (id: String, user: Credential) {
        let user = try await bench.login()
        return (try await bench.submit(user, "sim-authentic-after-0s"), user)
    }

    @Test func dataComesWithTheFinalResultAndOnlyToTheItemsUser() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let id = try await bench.submit(user, "sim-authentic-after-1h")
        for result in [nil, ResultID.dataRequired, .received] {
            if let result { _ = try await bench.control(PatchAuthentication(entrupyID: id, result: result)) }
            let name = result?.rawValue ?? "planned"
            #expect(await refusal { try await edge(bench, id, user) } == .wrongState, "\(name)")
        }
        try await give(bench, id, ["market_value": ["price": "1 USD"]])
        #expect(await refusal { try await edge(bench, id, user) } == .wrongState, "given data waits for the result too")
        _ = try await bench.control(PatchAuthentication(entrupyID: id, result: .authentic))
        #expect(try await edge(bench, id, user)["market_value.price"] == "1 USD")
        let other = try await bench.login("other-user")
        #expect(await refusal { try await edge(bench, id, other) } == .notFound)
        #expect(await refusal { try await edge(bench, "AAAAAAAA", user) } == .notFound)
        _ = try await bench.control(PatchAuthentication(entrupyID: id, result: .needsReview))
        #expect(await refusal { try await edge(bench, id, user) } == .wrongState, "under review again")
    }

    @Test func dataFollowsFromTheCatalogueDataAndIsTheSameEachTime() async throws {
        let bench = try await RuleBench()
        let (id, user) = try await authentic(bench)
        let made = try await edge(bench, id, user)
        let info = try await bench.control(ByID<ShowAuthentication>(id))
        let catalog = try WireJSON.decode(JSONValue.self, from: WireJSON.encode(info.v2))["catalog"]
        #expect(made["marketplace_listings"] == catalog["marketplace_listings"])
        for member in ["score", "rating", "issues"] {
            #expect(made["condition"][member] == catalog["condition_assessment"][member], "\(member)")
        }
        let rating = try #require(catalog["condition_assessment.rating"].text)
        #expect(made["market_grade.id"].text == rating.replacing(" ", with: "_"))
        #expect(made["market_grade.display"].text?.lowercased() == rating)
        #expect(made["market_match.product"] == "Nike Air Max")
        let listing = catalog["marketplace_listings.0"]
        #expect(made["market_match.confidence"] == listing["confidence"])
        #expect(made["market_value.price"].text == "\(listing["price"].text ?? "") USD")
        #expect(made["market_match.values.0.title"] == listing["title"])
        #expect(made["market_match.values.0.confidence"] == .null, "the published models have none")
        #expect(made["client_polling_instruction.poll"] == false && made["error"] == .null)
        #expect(try await edge(bench, id, user) == made)
        let again = try await RuleBench()
        let (sameID, sameUser) = try await authentic(again)
        #expect(try await edge(again, sameID, sameUser) == made, "equal seeds and requests")
    }

    @Test func aChangeOfTheCatalogueDataChangesTheMarketData() async throws {
        let bench = try await RuleBench()
        let (id, user) = try await authentic(bench)
        let offers: [JSONValue] = [("300.00", "USD"), ("9.00", "EUR"), ("100.00", "USD"), ("200.00", "USD")].map {
            ["platform": "P", "title": "T", "price": .string($0), "currency": .string($1)]
        }
        _ = try await bench.control(
            PatchAuthentication(
                entrupyID: id,
                catalog: [
                    "product_information": ["brand": "Other", "style": .null],
                    "condition_assessment": ["rating": "worn", "score": 2, "issues": ["scuffs"]],
                    "marketplace_listings": .array(offers + [["title": "no price", "more": 1]]),
                ]))
        let made = try await edge(bench, id, user)
        #expect(made["market_grade.id"] == "worn" && made["market_grade.display"] == "worn")
        #expect(made["market_grade.values.rating_ui_details.selected_rating_index"] == .null, "not on the scale")
        #expect(made["condition.score"] == 2 && made["market_grade.values.issues"] == ["scuffs"])
        #expect(made["market_match.product"] == "Other" && made["market_match.confidence"] == .null)
        #expect(made["market_value.price"] == "200.00 USD", "the middle price in the first currency")
        #expect(made["marketplace_listings"].elements?.count == 5)
        #expect(made["market_match.values"].elements?.count == 4, "one lacks what the published models require")
    }

    @Test func anItemWithoutDataGetsAnAnswerThatSaysSo() async throws {
        let bench = try await RuleBench()
        let (id, user) = try await authentic(bench)
        func checkIsEmpty(_ edge: JSONValue, _ comment: Comment) {
            for part in ["market_grade", "market_value", "market_match", "condition"] {
                #expect(edge[part] == .null, comment)
            }
            #expect(edge["marketplace_listings"] == [] && edge["error.ecode"] == "no_market_data", comment)
            #expect(edge["identifier.entrupy_id"].text == id, comment)
        }
        for result: ResultID in [.invalid, .notSupported, .canceled, .notAvailable] {
            _ = try await bench.control(PatchAuthentication(entrupyID: id, result: result))
            checkIsEmpty(try await edge(bench, id, user), "\(result)")
        }
        for result: ResultID in [.unknown, .analyzed, .authentic] {
            _ = try await bench.control(PatchAuthentication(entrupyID: id, result: result))
            #expect(try await edge(bench, id, user)["market_grade"] != .null, "\(result)")
        }
        _ = try await bench.control(
            PatchAuthentication(entrupyID: id, catalog: ["condition_assessment": .null, "marketplace_listings": .null]))
        checkIsEmpty(try await edge(bench, id, user), "without catalogue data")
        _ = try await bench.control(PatchAuthentication(entrupyID: id, result: .invalid))
        try await give(bench, id, ["market_match": ["product": "P"]])
        let given = try await edge(bench, id, user)
        #expect(given["market_match.product"] == "P" && given["error"] == .null && given["condition"] == .null)
    }

    @Test func whatIsGivenReplacesWhatFollowsUntilItIsRemoved() async throws {
        let bench = try await RuleBench()
        let (id, user) = try await authentic(bench)
        let made = try await edge(bench, id, user)
        try await give(bench, id, ["condition": ["rating": "excellent", "score": 9.5, "issues": ["dust"]]])
        var now = try await edge(bench, id, user)
        #expect(now["market_grade.id"] == "excellent", "the grade follows from the given condition")
        #expect(now["condition.score"] == 9.5 && now["condition.values.issues"] == ["dust"])
        #expect(now["marketplace_listings"] == made["marketplace_listings"], "what is not given stays")
        let listing: JSONValue = ["platform": "P", "title": "T", "price": "7.00", "confidence": 0.5, "brand": "B"]
        try await give(
            bench, id,
            [
                "market_grade": ["id": "a", "display": "Grade A"], "marketplace_listings": [listing],
                "market_match": ["product": "X", "confidence": 0.25], "disclaimer": ["d"],
            ])
        now = try await edge(bench, id, user)
        #expect(now["market_grade.id"] == "a" && now["market_grade.values.rating"] == "Grade A")
        #expect(now["condition.rating"] == made["condition.rating"], "what was given before is replaced")
        #expect(now["condition.values"] == now["market_grade.values"])
        #expect(now["marketplace_listings"] == [listing] && now["market_value.price"] == "7.00")
        #expect(now["market_match.product"] == "X" && now["market_match.confidence"] == 0.25)
        #expect(now["market_match.values.0.brand"] == "B" && now["disclaimer"] == ["d"])
        try await give(bench, id, ["market_grade": .null, "marketplace_listings": .null, "disclaimer": .null])
        now = try await edge(bench, id, user)
        #expect(now["market_grade"] == .null && now["market_match"] == .null && now["market_value"] == .null)
        #expect(now["marketplace_listings"] == [] && now["disclaimer"] == [] && now["condition"] != .null)
        try await give(bench, id, ["error": ["message": "Later.", "retry": true]])
        now = try await edge(bench, id, user)
        #expect(now["error.message"] == "Later." && now["error.show"] == true && now["error.retry"] == true)
        #expect(now["condition"] == .null && now["marketplace_listings"] == [])
        _ = try await bench.control(PatchAuthentication(entrupyID: id, marketEdge: .null))
        #expect(try await edge(bench, id, user) == made)
        #expect(try await bench.item(id).marketEdge == nil)
    }

    @Test func textsAreInTheCallersLanguage() async throws {
        let bench = try await RuleBench()
        let (id, user) = try await authentic(bench)
        let english = try await edge(bench, id, user)
        let japanese = try await edge(bench, id, user, .japanese)
        for path in [
            "market_grade.display", "market_grade.section_description", "market_value.section_description",
            "market_match.section_description", "disclaimer.0",
            "market_grade.values.details.0.item_region_display_name",
        ] {
            #expect(japanese[path] != english[path], "\(path)")
        }
        #expect(japanese["market_grade.id"] == english["market_grade.id"])
    }

    @Test(
        arguments: [
            (["market_grad": ["id": "a", "display": "b"]], "market_edge.market_grad", "did you mean market_grade?"),
            (["identifier": [:]], "market_edge.identifier", "cannot be set"),
            (["client_polling_instruction": ["poll": true]], "market_edge.client_polling_instruction", "cannot be set"),
            (["market_grade": ["id": "a"]], "market_edge.market_grade.display", "is missing"),
            (
                ["market_grade": ["id": "a", "dispaly": "b"]], "market_edge.market_grade.dispaly",
                "did you mean display?"
            ),
            (["market_grade": "a"], "market_edge.market_grade", "must be an object"),
            (["market_match": ["product": ""]], "market_edge.market_match.product", "must not be empty"),
            (
                ["market_match": ["product": "p", "confidence": 87]], "market_edge.market_match.confidence",
                "from 0.0 to 1.0"
            ),
            (["condition": ["rating": "r", "score": "9"]], "market_edge.condition.score", "must be a number"),
            (
                ["condition": ["rating": "r", "issues": [1]]], "market_edge.condition.issues",
                "must be an array of strings"
            ),
            (["marketplace_listings": [:]], "market_edge.marketplace_listings", "must be an array of objects"),
            (["marketplace_listings": [1]], "market_edge.marketplace_listings[0]", "must be an object"),
            (
                ["marketplace_listings": [["platform": "p", "title": "t", "price": 7]]],
                "market_edge.marketplace_listings[0].price", "must be a string"
            ),
            (
                ["marketplace_listings": [["platform": "p", "title": "t", "price": "7", "url": "u"]]],
                "market_edge.marketplace_listings[0].url", "is not known here"
            ),
            (["market_value": ["price": 7]], "market_edge.market_value.price", "must be a string"),
            (["error": ["show": true]], "market_edge.error.message", "is missing"),
            (["disclaimer": "d"], "market_edge.disclaimer", "must be an array of strings"),
        ] as [(JSONObject, String, String)])
    func whatIsWrongIsNamed(given: JSONObject, field: String, problem: String) throws {
        do {
            _ = try GivenMarketEdge(given)
            Issue.record("\(given) is accepted")
        } catch let error as PlatformError {
            #expect(error.details.contains { $0.field == field && $0.problem.contains(problem) }, "\(error.details)")
        }
    }

    @Test func sizesAreBounded() throws {
        let text = String(repeating: "x", count: 2000)
        let listing: JSONValue = ["platform": "p", "title": "t", "price": "7", "link": .string(text)]
        func problem(_ given: JSONObject) -> String? {
            do {
                _ = try GivenMarketEdge(given)
                return nil
            } catch {
                return (error as? PlatformError)?.details.first?.problem
            }
        }
        #expect(problem(["marketplace_listings": .array(Array(repeating: listing, count: 48))]) == nil)
        let tooLong = problem(["marketplace_listings": .array(Array(repeating: listing, count: 52))])
        #expect(tooLong?.hasPrefix("must be at most 100000 bytes as JSON") == true, "\(tooLong ?? "accepted")")
        let short: JSONValue = ["platform": "p", "title": "t", "price": "7"]
        let tooMany = problem(["marketplace_listings": .array(Array(repeating: short, count: 101))])
        #expect(tooMany == "must have at most 100 listings, got 101")
        #expect(problem(["disclaimer": [.string(text)]]) == nil)
        #expect(problem(["disclaimer": [.string(text + "x")]]) != nil)
        #expect(problem(["disclaimer": .array(Array(repeating: "d", count: 101))]) != nil)
    }

    @Test func aTemplateGivesItsItemsMarketData() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login("sim-test-user")
        let template = try ItemTemplate(
            count: 2, item: ["brand": "Nike"], marketEdge: ["market_match": ["product": "Pair {n}"]])
        let made = try await bench.namespace.generateItems(.success(template), RequestHead(isControl: true)).result
            .get()
        for (index, id) in made.entrupy_ids.enumerated() {
            #expect(try await edge(bench, id, user)["market_match.product"].text == "Pair \(index + 1)")
            let info = try await bench.control(ByID<ShowAuthentication>(id))
            #expect(info.item["market_edge"] == .null, "it is not a member of the item")
        }
        let long = try ItemTemplate(
            count: 10, item: ["brand": "Nike"],
            marketEdge: ["market_match": ["product": .string(String(repeating: "x", count: 496) + "{n}")]])
        #expect(
            try await bench.namespace.generateItems(.success(long), RequestHead(isControl: true)).result.get().count
                == 10)
        let tooLong = try ItemTemplate(
            count: 10, item: ["brand": "Nike"],
            marketEdge: ["market_match": ["product": .string(String(repeating: "x", count: 499) + "{n}")]])
        let refused = await bench.namespace.generateItems(.success(tooLong), RequestHead(isControl: true)).result
        guard case .failure(let error) = refused else {
            Issue.record("a text that the number makes too long is accepted")
            return
        }
        #expect(error.details.map(\.field) == ["market_edge.market_match.product"])
    }
}
