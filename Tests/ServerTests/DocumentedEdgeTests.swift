import EntrupyAPI
import Foundation
import HTTPTypes
import Simulation
import SimulationAPI
import Testing
import Yams

@testable import Entrupy
@testable import Evidence
@testable import Server

/// The documented edges are whole: everything that the description and the rules have is one, and each says what meets it.
@Suite struct DocumentedEdgeTests {
    private static let axes: [String: [String]] = {
        let coverage = CoverageLedger(.simulated, newID: { "a" }, realTime: { 0 }).ofServer
        return Dictionary(uniqueKeysWithValues: coverage.axes.map { ($0.id, $0.edges.map(\.id)) })
    }()

    /// The answers of the description, as its YAML is read.
    @Test func everyAnswerOfTheDescriptionIsAnEdge() throws {
        let document = try Description.tree()
        var answers: [String] = []
        for (path, item) in document["paths"]?.members ?? [] where !Target(path).isSimulators && path != "/" {
            for (method, operation) in item.members where ["get", "put", "post", "patch", "delete"].contains(method) {
                answers += (operation["responses"]?.members ?? []).map { "\(method.uppercased()) \(path) \($0.key)" }
            }
        }
        #expect(answers.count > 600)
        #expect(Self.axes["answers"] == answers)
    }

    /// Each line of the table of what operations read, and all kinds of its words.
    @Test func whatOperationsReadIsKnown() throws {
        #expect(
            DescribedMembers.routes.map(\.route.method)
                == DescribedMembers.lines.split(separator: "\n").map {
                    String($0.dropFirst(#"{"route":""#.count).prefix { $0 != " " })
                })
        let search = try #require(DescribedMembers.known.route("POST", "/v1/search/authentications")?.body)
        #expect(search.members["filters"]?.elements.first?.members["text_fields"] != nil && !search.isOpen)
        let item = try #require(DescribedMembers.known.route("GET", "/v2/authentications/A1"))
        #expect(item.parameters == ["include_images", "include_catalog"] && item.body == nil)
        let open = DescribedMembers.routes.compactMap(\.body).flatMap(\.members.values).count(where: \.isOpen)
        #expect(open > 0)
    }

    @Test func everyErrorThatAnAnswerCanNameIsAnEdge() {
        let ofDevices: [SDKErrorCode] = [
            .ErrorCodeOfflineAccess, .ErrorCodeUserDeniedPermissions, .ErrorCodeUnknownError, .ErrorCodeSearchItemFound,
        ]
        let named = Set(Self.axes["sdk_errors"] ?? [])
        #expect(named == Set(SDKErrorCode.allCases.filter { !ofDevices.contains($0) }.map { "\($0)" }))
    }

    @Test func everyStateResultLimitAndWebhookIsAnEdge() {
        #expect(Self.axes["results"] == ResultID.allCases.map(\.rawValue))
        let states = Set((Self.axes["captures"] ?? []).map { $0.components(separatedBy: " -> ").last ?? "" })
        #expect(states == ["started", "submitted", "cancelled", "timed_out"])
        let flags = Set((Self.axes["flags"] ?? []).flatMap { $0.components(separatedBy: " -> ") })
        #expect(flags == Set(FlagID.allCases.map(\.rawValue)))
        #expect(
            Self.axes["limits"] == [
                "sdk_per_second", "logins_per_minute", "logins_per_day", "api_per_second", "open_captures",
            ])
        let ends = ["delivered", "failed", "cancelled"]
        #expect(
            Self.axes["webhooks"] == WebhookEvent.allCases.flatMap { event in ends.map { "\(event.rawValue) \($0)" } })
        #expect(Self.axes["scenarios"] == Platforms.simulated.shippedScenarios.keys.sorted())
    }

    @Test func everyEdgeSaysWhatMeetsIt() {
        let table = EdgeTable.simulated
        #expect(table.commands.value.count == table.edges.count)
        for (edge, command) in zip(table.edges, table.commands.value) {
            #expect(command.contains("entrupy-sim ") || command.contains("curl "), "\(edge.id)")
        }
    }

    /// Edges that a request to no namespace meets are not those of a namespace, whose coverage could never be whole.
    @Test(arguments: [
        ("GET /v1/health 403", true), ("GET /v1/health 404", true), ("GET /sdk/session 403", false),
        ("GET /v1/health 401", false),
    ])
    func edgesOfTheServerAloneAreKnownByTheirCommands(edge: String, isOfServer: Bool) throws {
        let number = try #require(EdgeTable.simulated.number(Coverage.Name("answers", edge)))
        #expect(EdgeTable.simulated.ofServer.value.contains(number) == isOfServer)
    }

    /// A command that no edge has would be a mistake in its name.
    @Test func everyCommandIsThatOfAnEdge() {
        let edges = Self.axes.flatMap { axis, edges in edges.map { Coverage.Name(axis, $0) } }
        #expect(Set(EdgeTable.commands().keys) == Set(edges))
        let ofFaults = Platforms.simulated.all.flatMap(\.evidence.answersOfFaults)
        #expect(!ofFaults.isEmpty && Set(ofFaults).isSubset(of: Self.axes["answers"] ?? []))
    }

    @Test func onlyAnswersThatNoRuleGivesAreOfFaults() {
        let ofFaults = EdgeTable.simulated.edges.filter(\.isFaultOnly).map(\.id)
        let others = ofFaults.filter { id in
            !id.hasSuffix(" 500") && !id.hasSuffix(" 503") && !id.hasSuffix(" 504") && id.contains(" ")
        }
        #expect(
            others == [
                "POST /components/sessions/{id}/biometrics 422", "POST /components/sessions/{id}/biometrics/finish 422",
            ])
        #expect(
            ofFaults.filter { !$0.contains(" ") } == ["ErrorCodeInternalServerError", "ErrorCodeServerTimeoutError"])
    }

    @Test func everyRouteOfAPlatformFindsItsEdges() {
        for operation in DescribedAnswers.all {
            let method = HTTPRequest.Method(rawValue: operation.method) ?? .get
            let edges = EdgeTable.simulated.answers(method, operation.path)
            for status in operation.statuses {
                #expect(edges?[status] != nil, "\(operation.method) \(operation.path) \(status)")
            }
            #expect(edges?[299] == nil)
        }
    }
}
