import Foundation
import TestSupport
import Testing

@testable import Entrupy
@testable import Simulation

@Suite struct SeedTests {
    private static let standard = EntrupyPlatform.standardSeed

    @Test func theStandardSeedHasWhatTestsRelyOn() throws {
        let seed = try Seed.standard()
        let demo = try #require(seed.organizations.first { $0.name == "DemoOrg" })
        #expect(demo.apiTokens == ["demo-api-token"])
        #expect(demo.users.contains { $0.uniqueUserID == "sim-test-user" && $0.isTestUser })
        let entrupy = try #require(seed.entrupy.organizations.first { $0.name == "DemoOrg" })
        #expect(entrupy.bundles == ["com.example.demo"])
        let partner = try #require(entrupy.partnerUsers.first)
        #expect(partner.username == "demo" && partner.password == "demo")
        #expect(partner.uniqueUserID == "demo-user" && partner.email == "demo@example.com")
        #expect(seed.organizations.first { $0.name == "OtherOrg" }?.apiTokens == ["other-api-token"])
    }

    @Test func theStandardSeedHasTheVendorsBrands() throws {
        let brands = try Seed.standard().entrupy.catalogue.brands.filter {
            $0.categories.contains { $0.id == "sneakers" }
        }
        #expect(
            brands.map(\.id) == [
                "adidas", "alexander_mcqueen", "asics", "balenciaga", "christian_louboutin", "dior", "gucci",
                "louis_vuitton", "new_balance", "nike", "off_white",
            ])
    }

    @Test func productionHasSixToTenStepsAndDebugTwo() throws {
        for category in try Seed.standard().entrupy.catalogue.categories {
            #expect((6...10).contains(category.production.count))
            #expect(category.debug.count == 2)
        }
    }

    @Test func brandsAreMatchedByIDOrNameIgnoringCase() throws {
        let catalogue = try Seed.standard().entrupy.catalogue
        for text in ["Nike", "nike", "NIKE"] { #expect(catalogue.brand(matching: text)?.id == "nike") }
        for text in ["Louis Vuitton", "louis vuitton", "louis_vuitton"] {
            #expect(catalogue.brand(matching: text)?.id == "louis_vuitton")
        }
        #expect(catalogue.brand(matching: "Herm\u{e8}s")?.id == "hermes")
        #expect(catalogue.brand(matching: "Herme\u{300}s") == nil)
        #expect(catalogue.brand(matching: "Nikes") == nil)
    }

    @Test func emptyHasTheSameOrganizationsWithoutUsers() throws {
        let empty = try #require(try Seed.named("empty"))
        #expect(empty.organizations.map(\.apiTokens) == [["demo-api-token"], ["other-api-token"]])
        #expect(empty.organizations.someAndAll { $0.users.isEmpty })
        #expect(empty.entrupy.organizations.count == 2)
        #expect(empty.entrupy.organizations.someAndAll { $0.partnerUsers.isEmpty })
    }

    /// Each mistake, with the words that its error must contain besides the line.
    @Test(arguments: [
        ("name: DemoOrg", "nam: DemoOrg", "organizations[0].nam: is not known here; did you mean name?"),
        ("name: DemoOrg", "name: ''", "organizations[0].name: must not be empty"),
        ("unique_user_id: sim-test-user", "unique_user_id: short", "8 to 40"),
        ("test_user: true", "test_user: maybe", "must be true or false"),
        ("name: OtherOrg", "name: DemoOrg", "organization \"DemoOrg\" appears twice"),
        ("api_tokens: [other-api-token]", "api_tokens: [demo-api-token]", "an API token appears twice"),
        ("required_fields: [brand, style_name]", "required_fields: [brand, stile]", "must be one of product_category"),
        ("en: Toe box, ja", "english: Toe box, ja", "is not known here; expected en, ja"),
        ("- id: debug_configuration", "- id: debug", "debug_configuration is missing"),
        (
            "      sneakers: {item_types: [shoes], materials: [leather, mesh, suede]}", "      shoes: {}",
            "is not known here; expected sneakers"
        ),
        ("eligible: [authentic, unknown]", "eligible: [real]", "must be one of authentic"),
    ])
    func aMistakeIsReportedWithLineAndExpectation(right: String, wrong: String, words: String) throws {
        let text = Self.standard
        let range = try #require(text.range(of: right))
        let line = text[..<range.lowerBound].count { $0 == "\n" } + 1
        let broken = text.replacingCharacters(in: range, with: wrong)
        do {
            _ = try Seed(name: "mine.yaml", yaml: broken)
            Issue.record("accepted \(wrong)")
        } catch let error as SeedError {
            #expect("\(error)".contains(words), "\(error)")
            #expect("\(error)".hasPrefix("mine.yaml:"))
            #expect(
                !error.others.contains { other in
                    ![".ja", ".name", ".en"].contains { other.path.hasSuffix($0) }
                }, "\(error)")
            let distance = abs((error.line ?? 0) - line)
            #expect(
                words.contains("appears twice") || words.contains("is missing") || distance <= 1,
                "\(error), line \(line)")
        }
    }

    /// Each problem is reported, in the order of the lines, and once although two platforms read organizations.
    @Test func allMistakesAreReported() throws {
        let yaml = """
            brands: [{id: Nike, name: Nike, categories: {}}]
            colour: red
            organizations:
              - api_tokens: [a b]
                users: [{unique_user_id: short}]
                partner_users: [{username: x}]
            """
        let error = try #require(#expect(throws: SeedError.self) { try Seed(name: "mine.yaml", yaml: yaml) })
        let problems = error.all.map { "\($0.line ?? 0) \($0.path)" }
        #expect(
            problems == [
                "1 categories", "1 texts", "1 brands[0].id", "2 colour", "4 organizations[0].name",
                "4 organizations[0].api_tokens[0]", "5 organizations[0].users[0].unique_user_id",
                "6 organizations[0].partner_users[0].password", "6 organizations[0].partner_users[0].unique_user_id",
                "6 organizations[0].partner_users[0].email",
            ], "\(error)")
        #expect("\(error)".split(separator: "\n").count == problems.count)
        #expect(!"\(error)".contains("a b"), "a token is a secret")
    }

    /// An unknown member without a value has one problem.
    @Test func anUnknownMemberHasOneProblem() throws {
        let error = try #require(
            #expect(throws: SeedError.self) { try Seed(name: "mine.yaml", yaml: Self.standard + "\ncolour:\n") })
        #expect(error.all.map(\.path) == ["colour"], "\(error)")
    }

    /// A value that was forgotten decides nothing: `types:` without types would accept all.
    @Test(arguments: [
        ("      sneakers: {item_types: [shoes], materials: [leather, mesh, suede]}", "      sneakers:", "brands"),
        ("eligible: [authentic, unknown]", "eligible:", "flagging.eligible"),
        ("test_user: true", "test_user: ~", ".test_user"),
        ("api_tokens: [other-api-token]", "api_tokens:", "organizations[1].api_tokens"),
    ])
    func nullIsRefused(right: String, wrong: String, path: String) throws {
        let range = try #require(Self.standard.range(of: right))
        let text = Self.standard.replacingCharacters(in: range, with: wrong)
        let error = try #require(#expect(throws: SeedError.self) { try Seed(name: "mine.yaml", yaml: text) })
        #expect(error.path.contains(path) && error.problem == "must not be null" && error.others.isEmpty, "\(error)")
    }

    /// A token that is refused is no known secret, so nothing masks it.
    @Test(arguments: [
        "organizations: [{name: A, api_tokens: my-secret}]",
        "organizations: [{name: A, api_tokens: [my-secret, my-secret]}]",
        "organizations: [{name: A, api_tokens: [], partner_users: ['alice:my-secret']}]",
        "organizations: [{name: A, api_tokens: ['my-secret ']}]",
    ])
    func noMessageShowsAToken(text: String) throws {
        let error = try #require(#expect(throws: SeedError.self) { try Seed(name: "mine.yaml", yaml: text) })
        #expect(!"\(error)".contains("my-secret"), "\(error)")
    }

    /// Without categories, those that brands and item types name are not judged.
    @Test func whatFollowsFromAMistakeIsNoMistake() throws {
        let text = Self.standard.replacing("\ncategories:", with: "\ncategoreis:")
        let error = try #require(#expect(throws: SeedError.self) { try Seed(name: "mine.yaml", yaml: text) })
        #expect(error.all.map(\.path).sorted() == ["categoreis", "categories"], "\(error)")
    }

    /// In YAML, a text needs no quotes because it looks like another value.
    @Test func plainScalarsAreTexts() throws {
        let text = Self.standard
            .replacing("api_tokens: [other-api-token]", with: "api_tokens: [8642, 1.50, true, 12e4567]")
            .replacing("test_user: true", with: "test_user: yes")
        let seed = try Seed(name: "mine.yaml", yaml: text)
        #expect(seed.organizations.first { $0.name == "OtherOrg" }?.apiTokens == ["8642", "1.50", "true", "12e4567"])
        #expect(seed.organizations[0].users.contains { $0.isTestUser })
    }

    /// The order in which a brand names its categories is the catalogue's, in YAML and in JSON, whose members have none.
    @Test func aBrandsCategoriesHaveTheCataloguesOrder() throws {
        let sneakers = "      sneakers: {item_types: [shoes], materials: [canvas, leather]}\n"
        let luxury = "      luxury: {item_types: [bag, wallet], materials: [leather, oblique_canvas]}\n"
        #expect(Self.standard.contains(sneakers + luxury), "no brand of the seed data has both in this order")
        let text = Self.standard.replacing(sneakers + luxury, with: luxury + sneakers)
        let seed = try Seed(name: "mine.yaml", yaml: text)
        for brand in seed.entrupy.catalogue.brands {
            let places = brand.categories.compactMap { category in
                seed.entrupy.catalogue.categories.firstIndex { $0.id == category.id }
            }
            #expect(places == places.sorted(), "\(brand.id)")
        }
    }

    @Test(arguments: ["", "just text", "a: [1", "a: 1\na: 2", "\t- x"])
    func anInvalidSeedIsAnErrorNotACrash(text: String) {
        #expect(throws: SeedError.self) { try Seed(name: "x.yaml", yaml: text) }
    }
}
