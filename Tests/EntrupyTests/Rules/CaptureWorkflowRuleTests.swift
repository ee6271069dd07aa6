import EntrupyAPI
import EntrupyStorage
import Simulation
import SimulationAPI
import Testing

@testable import Entrupy

/// Fingerprints that an item asks for with `capture_workflow`, and how they end.
@Suite struct CaptureWorkflowRuleTests {
    private static func register(_ more: JSONObject = [:]) -> JSONObject {
        var item: JSONObject = ["capture_workflow": "fingerprint_register", "item_type": "sneakers"]
        for (key, value) in more { item[key] = value }
        return item
    }

    private static func compare(_ more: JSONObject = [:]) -> JSONObject {
        var item: JSONObject = ["capture_workflow": "fingerprint_compare"]
        for (key, value) in more { item[key] = value }
        return item
    }

    private func run(
        _ bench: RuleBench, _ user: Credential, _ item: JSONObject, activity: Activity? = nil, parent: String? = nil,
        waits: Bool = true
    ) async throws -> ItemRecord {
        let request = StartCaptureRequest(item: item, activity: activity, fingerprint_parent: parent)
        let capture = try await bench.user(StartCapture(request), user).captureID
        try await bench.upload(capture, user)
        let id = try await bench.user(ByID<SubmitCapture>(capture), user).entrupy_id
        if waits { await bench.wait("1h") }
        return try await bench.item(id)
    }

    /// The error of a capture that is refused: its kind and the field.
    private func refused(
        _ bench: RuleBench, _ user: Credential, _ item: JSONObject, activity: Activity? = nil, parent: String? = nil
    ) async throws -> (PlatformError.Kind, String?) {
        do {
            let request = StartCaptureRequest(item: item, activity: activity, fingerprint_parent: parent)
            _ = try await bench.user(StartCapture(request), user)
            Issue.record("the capture was started")
            return (.invalid, nil)
        } catch let error as PlatformError {
            return (error.kind, error.details.first?.field)
        }
    }

    @Test(
        arguments: [
            (["brand": "Nike", "itemType": "tops"], ["item_type", "style_name"]),
            (["brand": "Nike", "productCategory": "sneakers"], ["product_category", "style_name"]),
            (
                ["captureWorkflow": "fingerprint_register", "itemType": "handbag"],
                ["item_type", "capture_workflow", "brand", "style_name"]
            ),
            (["brand": "Nike", "styleName": "Air", "usSize": 9], ["us_size", "style_name"]),
        ] as [(JSONObject, [String])])
    func namesOfOtherLanguagesAreNamedFirst(item: JSONObject, fields: [String]) async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let refused = await refusalError {
            try await bench.user(StartCapture(StartCaptureRequest(item: item)), user)
        }
        #expect(refused?.details.map(\.field) == fields.map { "item.\($0)" }, "\(String(describing: refused))")
        #expect(refused?.details.first?.problem.contains("which is another name") == true)
        // They are metadata where nothing is missing.
        let whole = StartCaptureRequest(item: ["brand": "Nike", "style_name": "Air", "customerItemID": "x"])
        _ = try await bench.user(StartCapture(whole), user)
    }

    @Test func aRegistrationNeedsNoBrandAndEndsRegistered() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let item = try await run(bench, user, Self.register())
        #expect(item.result == .registered)
        #expect(item.resultFinal)
        #expect(item.activity == .fingerprintRegister)
        #expect(item.certificateID == nil)
        #expect((item.brandID, item.brandName) == ("", ""))
        #expect(!item.metadata.contains("capture_workflow"))
        let info = try await bench.control(ByID<ShowAuthentication>(item.entrupyID))
        #expect(info.sdk.properties.brand.id == "")
        #expect(info.sdk.properties.brand.display == ["name": ""])
        #expect(info.v2.properties.brand == nil)
        #expect(info.sdk.status.result.display.header == "Registered")
        #expect(!info.sdk.status.flag.is_flaggable)
    }

    @Test func aComparisonNeedsNothingAndWithoutAParentIsNoMatch() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let item = try await run(bench, user, Self.compare())
        #expect(item.result == .noMatch)
        #expect(item.fingerprintParent == nil)
        #expect(item.category == "sneakers")
        let belt = try await run(bench, user, Self.compare(["item_type": "belt"]))
        #expect(belt.category == "luxury")
    }

    @Test func theParentIsTheEntrupyIDElseTheGivenOneElseTheLatestWithTheCustomerItemID() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let old = try await run(bench, user, Self.register(["customer_item_id": "bag-1"]))
        let new = try await run(bench, user, Self.register(["customer_item_id": "bag-1"]))
        let other = try await run(bench, user, Self.register(["customer_item_id": "bag-2"]))
        let byCustomer = try await run(bench, user, Self.compare(["customer_item_id": "bag-1"]))
        #expect(byCustomer.fingerprintParent == new.entrupyID)
        #expect(byCustomer.result == .match)
        let given = try await run(
            bench, user, Self.compare(["customer_item_id": "bag-1"]), parent: other.entrupyID)
        #expect(given.fingerprintParent == other.entrupyID)
        let named = try await run(
            bench, user, Self.compare(["customer_item_id": "bag-1", "entrupy_id": .string(old.entrupyID)]),
            parent: other.entrupyID)
        #expect(named.fingerprintParent == old.entrupyID)
        #expect(!named.metadata.contains("entrupy_id"))
        let unknown = try await run(bench, user, Self.compare(["customer_item_id": "bag-3"]))
        #expect(unknown.fingerprintParent == nil)
        #expect(unknown.result == .noMatch)
        // A registration that failed, and an item of another kind, are none.
        _ = try await bench.submit(user, "bag-4")
        await bench.wait("1h")
        #expect(try await run(bench, user, Self.compare(["customer_item_id": "bag-4"])).fingerprintParent == nil)
        _ = try await bench.control(PatchAuthentication(entrupyID: other.entrupyID, result: .registrationInvalid))
        #expect(try await run(bench, user, Self.compare(["customer_item_id": "bag-2"])).fingerprintParent == nil)
    }

    @Test func everyParentThatIsGivenMustBeRegistered() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let item = try await run(bench, user, Self.register())
        let plain = try await bench.submit(user)
        let pending = try await run(bench, user, Self.register(), waits: false)
        let good = JSONValue.string(item.entrupyID)
        for (id, kind) in [
            ("NOBODY22", PlatformError.Kind.invalid), (plain, .invalid), (pending.entrupyID, .wrongState),
        ] {
            let named = try await refused(bench, user, Self.compare(["entrupy_id": .string(id)]))
            #expect(named == (kind, "item.entrupy_id"))
            let beside = try await refused(bench, user, Self.compare(["entrupy_id": good]), parent: id)
            #expect(beside == (kind, "fingerprint_parent"))
        }
        // A 400 comes before the 409.
        let waiting = Self.compare(["entrupy_id": .string(pending.entrupyID)])
        #expect(try await refused(bench, user, waiting, parent: plain) == (.invalid, "fingerprint_parent"))
        _ = try await bench.control(PatchSettings(["quota": 0]))
        #expect(try await refused(bench, user, waiting) == (.forbidden, "quota"))
        _ = try await bench.control(PatchSettings(["quota": .null]))
        await bench.wait("1h")
        _ = try await bench.control(PatchAuthentication(entrupyID: item.entrupyID, result: .registrationInvalid))
        #expect(try await refused(bench, user, Self.compare(["entrupy_id": good])) == (.invalid, "item.entrupy_id"))
        _ = try await bench.control(PatchAuthentication(entrupyID: item.entrupyID, result: .authentic))
        #expect(try await run(bench, user, Self.compare(["entrupy_id": good])).fingerprintParent == item.entrupyID)
    }

    @Test func unknownAndContradictoryWorkflowsAreRefused() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        for workflow: JSONValue in ["authentication", "fingerprint", "", 7, .object([:]), "Fingerprint_Register"] {
            let item: JSONObject = ["capture_workflow": workflow, "brand": "Nike", "style_name": "x"]
            #expect(try await refused(bench, user, item) == (.invalid, "item.capture_workflow"))
        }
        #expect(
            try await refused(bench, user, Self.register(), activity: .fingerprintCompare) == (.invalid, "activity"))
        #expect(try await refused(bench, user, Self.register(), activity: .authentication) == (.invalid, "activity"))
        #expect(try await run(bench, user, Self.register(), activity: .fingerprintRegister).result == .registered)
        // Null is as absent.
        let plain: JSONObject = ["capture_workflow": .null, "brand": "Nike", "style_name": "x"]
        let item = try await run(bench, user, plain)
        #expect(item.activity == .authentication)
        #expect(!item.metadata.contains("capture_workflow"))
    }

    @Test func aRegistrationNeedsAKnownItemType() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let nothing: JSONObject = ["capture_workflow": "fingerprint_register"]
        #expect(try await refused(bench, user, nothing) == (.invalid, "item.item_type"))
        let unknown = Self.register(["item_type": "spaceship"])
        #expect(try await refused(bench, user, unknown) == (.invalid, "item.item_type"))
        #expect(try await refused(bench, user, Self.register(["entrupy_id": "X"])) == (.invalid, "item.entrupy_id"))
        #expect(try await refused(bench, user, Self.compare(["entrupy_id": 7])) == (.invalid, "item.entrupy_id"))
        // With the activity alone, the older rules hold.
        let old: JSONObject = ["item_type": "sneakers"]
        #expect(try await refused(bench, user, old, activity: .fingerprintRegister) == (.invalid, "item.brand"))
        let compared: JSONObject = ["brand": "Nike", "style_name": "x"]
        #expect(
            try await refused(bench, user, compared, activity: .fingerprintCompare) == (.invalid, "fingerprint_parent"))
    }

    @Test func theSettingsSayHowFingerprintsEnd() async throws {
        let bench = try await RuleBench(settings: [
            "fingerprints": ["registered": "authentic", "match": "match_found", "no_match": "no_match_found"]
        ])
        let user = try await bench.login()
        let item = try await run(bench, user, Self.register())
        #expect(item.result == .authentic)
        #expect(item.certificateID == nil)
        let matched = try await run(bench, user, Self.compare(["entrupy_id": .string(item.entrupyID)]))
        #expect(matched.result == .matchFound)
        #expect(try await run(bench, user, Self.compare()).result == .noMatchFound)
        for (key, value) in [("registered", "match"), ("match", "no_match"), ("no_match", "match_found")] {
            let patch: JSONValue = ["fingerprints": .object(JSONObject([(key, .string(value))]))]
            #expect(await refusal { try await bench.control(PatchSettings(patch)) } == .invalid, "\(key)")
        }
    }

    @Test func aTeamMayRequireACustomerItemID() async throws {
        let bench = try await RuleBench(settings: ["captures": ["require_customer_item_id": true]])
        let user = try await bench.login()
        for missing: JSONValue in [.null, ""] {
            let item: JSONObject = ["brand": "Nike", "style_name": "x", "customer_item_id": missing]
            #expect(try await refused(bench, user, item) == (.invalid, "item.customer_item_id"))
        }
        #expect(try await refused(bench, user, Self.compare()) == (.invalid, "item.customer_item_id"))
        _ = try await bench.submit(user, "mine")
    }
}

/// The nine results of the vendor's newest interface.
@Suite struct NewestResultTests {
    private static let forAll: [ResultID] = [.canceled, .dataRequired, .notAvailable, .received]
    private static let ofRegistrations: [ResultID] = [.registered, .registrationInvalid, .registrationNotSupported]
    private static let ofComparisons: [ResultID] = [.match, .noMatch, .matchFound, .noMatchFound]

    @Test func eachHasTextsInBothLanguages() async throws {
        let bench = try await RuleBench()
        for result in ResultID.allCases {
            let texts = try await bench.job { job in
                job.catalogue.texts.result(result).map {
                    ($0.header[.english], $0.header[.japanese], $0.message[.japanese])
                }
            }
            let (english, japanese, message) = try #require(texts, "\(result.rawValue)")
            #expect(english != japanese && message.contains { !$0.isASCII }, "\(result.rawValue)")
        }
    }

    @Test func resultsThatAreNotFinalComeLikeOthersAndStayOpen() async throws {
        for result in [ResultID.dataRequired, .received] {
            let bench = try await RuleBench(settings: ["result": ["default": .string(result.rawValue), "delay": "10s"]])
            let user = try await bench.login()
            let id = try await bench.submit(user)
            // `received` comes before everything else.
            #expect(try await bench.item(id).result == (result == .received ? .received : .needsReview))
            await bench.wait("10s")
            let item = try await bench.item(id)
            #expect(item.result == result)
            #expect(!item.resultFinal)
            #expect(item.initialResult == nil)
            let final = try await bench.control(PatchAuthentication(entrupyID: id, result: .authentic))
            #expect(final.result.final)
            #expect(final.v2.status.initial_result?.final == false)
        }
    }

    @Test func anItemMayBeginAsReceived() async throws {
        let bench = try await RuleBench(settings: ["result": ["initial": "received"]])
        let user = try await bench.login()
        let id = try await bench.submit(user)
        let item = try await bench.item(id)
        #expect(item.result == .received && !item.resultFinal && item.initialResult == nil)
        await bench.wait("5s")
        #expect(try await bench.item(id).result == .authentic)
        let reviewed = try await bench.submit(user, "sim-needs_review-after-5m")
        #expect(try await bench.item(reviewed).result == .received)
        await bench.wait("1h")
        let review = try await bench.item(reviewed)
        #expect(review.result == .needsReview && !review.resultFinal)
        let usual = try await RuleBench()
        let planned = try await usual.submit(usual.login(), "sim-received-after-1h")
        #expect(try await usual.item(planned).result == .received)
        await usual.wait("2h")
        #expect(try await usual.item(planned).result == .received)
    }

    @Test func theOthersAreFinalWithoutCertificateAndFlag() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let id = try await bench.submit(user)
        for result in [ResultID.canceled, .notAvailable] {
            let info = try await bench.control(PatchAuthentication(entrupyID: id, result: result))
            #expect(info.result.final)
            #expect(info.certificate_id == nil)
            #expect(!info.flag.is_flaggable)
            let patch: JSONValue = ["flagging": ["eligible": [.string(result.rawValue)]]]
            #expect(await refusal { try await bench.control(PatchSettings(patch)) } == .invalid)
        }
    }

    @Test func someAreForRegistrationsOrComparisonsAlone() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let id = try await bench.submit(user)
        for result in Self.ofRegistrations + Self.ofComparisons {
            let change = PatchAuthentication(entrupyID: id, result: result)
            #expect(await refusal { try await bench.control(change) } == .invalid, "\(result.rawValue)")
            let capture = StartCaptureRequest(
                item: ["brand": "Nike", "style_name": "x", "customer_item_id": .string("sim-\(result.rawValue)-1")])
            #expect(
                await refusal { try await bench.user(StartCapture(capture), user) } == .invalid, "\(result.rawValue)")
            let patch: JSONValue = ["result": ["default": .string(result.rawValue)]]
            #expect(await refusal { try await bench.control(PatchSettings(patch)) } == .invalid, "\(result.rawValue)")
        }
        for result in Self.forAll {
            #expect(try await bench.control(PatchAuthentication(entrupyID: id, result: result)).result.id == result)
        }
    }

    /// `match` begins `match_found`.
    @Test func magicIDsNameEachResult() async throws {
        for result in ResultID.allCases {
            #expect(MagicItemID("sim-\(result.rawValue)")?.result == result)
            #expect(MagicItemID("sim-\(result.rawValue)-after-2h-7")?.result == result)
            #expect(MagicItemID("sim-\(result.rawValue)x") == nil)
        }
    }

    @Test func anOutcomeRuleThatCannotApplyIsNotedAndPassedOver() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let rule = try await bench.control(AddOutcome(["result": "registration_invalid"]))
        #expect(
            rule.notes.count == 1
                && rule.notes[0].contains("only registered fingerprints can have registration_invalid"))
        let id = try await bench.submit(user)
        await bench.wait("1h")
        #expect(try await bench.item(id).result == .authentic)
        let request = StartCaptureRequest(item: ["capture_workflow": "fingerprint_register", "item_type": "sneakers"])
        let capture = try await bench.user(StartCapture(request), user).captureID
        try await bench.upload(capture, user)
        let registered = try await bench.user(ByID<SubmitCapture>(capture), user).entrupy_id
        await bench.wait("1h")
        #expect(try await bench.item(registered).result == .registrationInvalid)
    }
}

/// The item types of the vendor's tables, and how a category is found.
@Suite struct VendorItemTypeTests {
    private func flow(_ item: JSONObject) async throws -> (category: String, isSupported: Bool) {
        let bench = try await RuleBench()
        return try await bench.job { ItemMetadata(members: item).flow($0.catalogue) }
    }

    @Test(arguments: ["tops", "Top", "トップス", "bottoms", "bottom", "ボトムス", "hats", "HAT", "帽子", "outerwear"])
    func eachApparelBrandHasTheVendorsTypes(type: String) async throws {
        let bench = try await RuleBench()
        let missing = try await bench.job { job in
            job.catalogue.brands.filter { brand in brand.categories.contains { $0.id == "apparel" } }.filter { brand in
                let item: JSONObject = ["brand": .string(brand.name), "item_type": .string(type)]
                let flow = ItemMetadata(members: item).flow(job.catalogue)
                return !flow.isSupported || flow.category != "apparel"
            }.map(\.id)
        }
        #expect(missing == [])
    }

    @Test func fearOfGodEssentialsIsABrand() async throws {
        let flow = try await flow(["brand": "fear of god essentials", "item_type": "hats"])
        #expect(flow.isSupported)
        #expect(flow.category == "apparel")
    }

    @Test(arguments: [
        ("SNEAKERS", "Nike", "hoodie", "sneakers"), ("Clothing", "Nike", "hats", "apparel"),
        ("Clothing", "Nike", "spaceship", "Clothing"), ("Clothing", "Nobody", "hats", "Clothing"),
        ("Clothing", "Gucci", "handbag", "luxury"),
    ])
    func anUnknownCategoryGivesWayToBrandAndType(category: String, brand: String, type: String, found: String)
        async throws
    {
        let flow = try await flow([
            "product_category": .string(category), "brand": .string(brand), "item_type": .string(type),
        ])
        #expect(flow.category == found)
    }

    @Test func theListOfBrandsHasIDsOfTypes() async throws {
        let bench = try await RuleBench()
        let brands = try await bench.partner(ListBrands()).brands
        let types = Set(brands.flatMap(\.item_types))
        #expect(types.isSuperset(of: ["sneakers", "handbag", "hats"]))
        #expect(types.isDisjoint(with: ["shoes", "bag"]))
    }
}
