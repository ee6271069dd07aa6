import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Tests of the description itself: that it is served completely, and that its examples match their schemas.
@Suite struct ContractTests {
    @Test func theServerServesTheFileOfTheRepository() async throws {
        let answer = try await TestWorld(base: SimProcess.shared.baseURL).send("GET", "/openapi.yaml")
        #expect(answer.status == 200)
        #expect(answer.headers.first(name: "Content-Type") == "application/yaml")
        #expect(String(decoding: answer.body, as: UTF8.self) == Contract.text)
    }

    @Test func theServerServesTheSameAsJSON() async throws {
        let world = TestWorld(base: SimProcess.shared.baseURL)
        let answer = try await world.send("GET", "/openapi.json")
        #expect(answer.status == 200 && answer.json == Contract.shared.document)
        #expect(answer.headers.first(name: "Content-Type") == "application/json")
        #expect(answer.headers.first(name: "X-Content-Type-Options") == "nosniff")
        #expect(answer.headers.first(name: "X-Request-Id")?.isEmpty == false)
        // Clients read it in any namespace, and the bytes never differ.
        let other = try await TestWorld.make().send("GET", "/openapi.json")
        #expect(other.status == 200 && other.body == answer.body)
        let head = try await world.send("HEAD", "/openapi.json")
        #expect(head.status == 200 && head.body.isEmpty)
        #expect(head.headers.first(name: "Content-Length") == String(answer.body.count))
        #expect(try await world.send("POST", "/openapi.json").status == 405)
    }

    @Test func thePageShowsEveryRouteAndShapeAndLoadsNothing() async throws {
        let answer = try await TestWorld(base: SimProcess.shared.baseURL).send("GET", "/_sim/docs")
        let page = String(decoding: answer.body, as: UTF8.self)
        #expect(!page.contains(" data-control>"), "this server requires no token")
        let ids = Set(page.matches(of: /id="([^"]+)"/).map { String($0.1) })
        let articles = Set(page.matches(of: /<article id="([^"]+)" data-method="([^"]+)"/).map { "\($0.1) \($0.2)" })
        for operation in Contract.shared.operations {
            let id = try #require(operation.description["operationId"].text)
            #expect(articles.contains("\(id) \(operation.method)"), "\(id)")
        }
        for name in (Contract.shared.document["components.schemas"].members ?? [:]).keys {
            #expect(ids.contains("shape-\(name)"), "\(name)")
        }
        #expect(!page.contains("src=") && !page.contains("<link"))
        #expect(answer.headers.first(name: "Content-Security-Policy")?.contains("default-src 'none'") == true)
        for anchor in page.matches(of: /href="#([^"]+)"/) {
            #expect(ids.contains(String(anchor.1)), "\(anchor.1)")
        }
    }

    @Test func everyExampleFitsItsSchema() {
        let contract = Contract.shared
        let validator = SchemaValidator(document: contract.document, isClosed: true)
        var count = 0
        for (schema, example, place) in examples(contract) {
            count += 1
            let problems = validator.problems(example, schema)
            #expect(problems.isEmpty, "\(place): \(problems.joined(separator: "; "))")
        }
        #expect(count > 60)
    }

    @Test func everyOperationHasExamplesOfItsRequestAndAnswers() {
        let contract = Contract.shared
        for operation in contract.operations {
            let name = "\(operation.method) \(operation.path)"
            let body = contract.resolved(operation.description["requestBody"])
            for media in body["content"].members ?? [:] where media.key == "application/json" {
                #expect(media.value.members?.keys.contains { $0.hasPrefix("example") } == true, "\(name): no request")
            }
            for (status, response) in operation.description["responses"].members ?? [:] {
                for media in contract.resolved(response)["content"].members ?? [:] where media.key == "application/json"
                {
                    #expect(
                        media.value.members?.keys.contains { $0.hasPrefix("example") } == true, "\(name): \(status)")
                }
            }
        }
    }

    @Test func everyReferenceResolves() {
        for reference in references(Contract.shared.document) {
            #expect(Contract.shared.document.resolve(reference) != .null, "\(reference)")
        }
    }

    @Test(arguments: [
        ("GET", "/sdk/session", 200, #"{"username": "a"}"#), ("GET", "/sdk/session", 418, "{}"),
        ("GET", "/nowhere", 200, "{}"), ("GET", "/_sim/health", 200, #"{"status": "ok", "more": 1}"#),
        ("GET", "/_sim/health", 200, #"{"status": "fine"}"#),
    ])
    func anAnswerThatViolatesTheDescriptionIsDetected(method: String, path: String, status: Int, body: String) {
        let answer = Answer(
            status: status, headers: ["Content-Type": "application/json", "X-Request-Id": "x"], body: Data(body.utf8))
        #expect(!Contract.shared.problems(method, path, request: nil, answer).isEmpty)
    }

    /// Every example with its schema and its path.
    private func examples(_ contract: Contract) -> [(JSONValue, JSONValue, String)] {
        var found: [(JSONValue, JSONValue, String)] = []
        func job(_ value: JSONValue, _ path: String) {
            if let schema = value.members?["schema"] {
                if let example = value.members?["example"] { found.append((schema, example, path)) }
                for (name, example) in value["examples"].members ?? [:] {
                    found.append((schema, example["value"], "\(path).\(name)"))
                }
            }
            for (key, member) in value.members ?? [:] where !["example", "examples"].contains(key) {
                job(member, "\(path)/\(key)")
            }
            for (index, element) in value.items.enumerated() { job(element, "\(path)/\(index)") }
        }
        job(contract.document, "")
        return found
    }

    private func references(_ value: JSONValue) -> [String] {
        (value.members ?? [:]).flatMap { key, member in
            key == "$ref" ? [member.text ?? "?"] : references(member)
        } + value.items.flatMap(references)
    }
}
