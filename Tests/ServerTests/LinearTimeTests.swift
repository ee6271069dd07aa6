import EntrupyAPI
import Foundation
import HTTPTypes
import SimulationAPI
import Storage
import TestSupport
import Testing

@testable import Console
@testable import Entrupy
@testable import Server
@testable import Simulation

/// Handling any external input takes at most linear time in its length.
@Suite(.serialized) struct LinearTimeTests {
    // MARK: JSON

    /// Documents of about a given length in bytes that contain a hostile text.
    private static func documents(_ hostile: Hostile, _ length: Int) -> [[UInt8]] {
        let text = hostile.text(length)
        let quoted = String(decoding: WireJSONText.quoted(text), as: UTF8.self)
        return [
            Array(text.utf8), Array("{\(quoted):1}".utf8), Array("{\"a\":\(quoted)}".utf8),
            Array("{\(quoted):1,\"b\":{\(quoted):[2]},\(quoted):3}".utf8), Array("[\(text)]".utf8),
        ]
    }

    @Test(arguments: Hostile.allCases) func json(hostile: Hostile) {
        for index in Self.documents(hostile, 100).indices {
            Growth.isLinear("\(hostile) \(index)") {
                Self.documents(hostile, $0)[index]
            } _: {
                try Self.readAndWrite($0)
            }
        }
    }

    /// Every operation on a body: parses it, reads members, reports unknown ones, compares it, and encodes it in two
    /// ways.
    private static func readAndWrite(_ bytes: [UInt8]) throws {
        let value = try StrictJSON.parse(bytes)
        let members = value.members ?? [:]
        var fields = FieldReader(members, known: ["brand", "customer_item_id"])
        _ = fields.optionalString("brand")
        _ = (value == value, value.hashValue, value.merging(value))
        let encoded = try WireJSON.encode(StartCaptureRequest(item: members))
        _ = try WireJSON.decode(JSONValue.self, from: encoded)
        try fields.finish()
    }

    @Test func jsonOfMuch() {
        func list(_ part: @escaping (Int) -> String) -> (Int) -> [UInt8] {
            { length in Array("[\((0..<length / 12).map(part).joined(separator: ","))]".utf8) }
        }
        func object(_ part: @escaping (Int) -> String) -> (Int) -> [UInt8] {
            { length in Array("{\((0..<length / 12).map(part).joined(separator: ","))}".utf8) }
        }
        Growth.isLinear("elements", list { "\($0)" }, Self.readAndWrite)
        Growth.isLinear("lists", list { _ in "[[],[],[]]" }, Self.readAndWrite)
        Growth.isLinear("numbers", list { _ in "0.12345e-7" }, Self.readAndWrite)
        Growth.isLinear("members", object { "\"\($0)\":1" }, Self.readAndWrite)
        Growth.isLinear("marked members", object { "\"\(Hostile.marks(20))\($0)\":1" }, Self.readAndWrite)
        Growth.isLinear("escapes", list { _ in #""\u0301\n\ud83d\ude00""# }, Self.readAndWrite)
        Growth.isLinear("a late error") { length in
            Array("{\"a\":[\(String(repeating: "1,\n", count: length / 3))]}".utf8)
        } _: {
            _ = try StrictJSON.parse($0)
        }
    }

    /// Three lengths up to the maximum body size, for the worst inputs: a name of marks, nesting, digits and commas.
    @Test(arguments: [Hostile.marks, .nesting, .digits, .commas]) func jsonOfAMegabyte(hostile: Hostile) {
        for index in [0, 1, 4] {
            for length in [10_000, 100_000] {
                Growth.isLinear("\(hostile) \(index)", from: length) {
                    Self.documents(hostile, $0)[index]
                } _: {
                    _ = try StrictJSON.parse($0)
                }
            }
        }
    }

    /// Input that the library decodes: manifests, recordings and clients' request strings.
    @Test(arguments: Hostile.allCases) func typedJSON(hostile: Hostile) {
        for index in 0..<3 {
            Growth.isLinear("\(hostile) \(index)") {
                Data(Self.documents(hostile, $0)[index])
            } _: {
                _ = try WireJSON.decode(CapturePage.self, from: $0)
            }
        }
        Growth.isLinear("\(hostile)", from: 1000) {
            Base64URL.encode(Data(Self.documents(hostile, $0)[1]))
        } _: {
            _ = SignedRequests.bundleID(inSDKRequest: $0)
        }
    }

    // MARK: Heads

    private static let fields: [HTTPField.Name] = [
        .acceptLanguage, .authorization, .contentType, .contentDigest, .apiVersion, .requestID, .cookie, .namespace,
        .controlToken, .origin, .expect, .contentLength, .transferEncoding, .contentEncoding,
    ]

    @Test(arguments: Hostile.allCases) func headers(hostile: Hostile) {
        let (hosts, keys) = (HostGuard(allowedHosts: ["sim.example.com"]), ControlKey(token: "t"))
        for field in Self.fields {
            Growth.isLinear("\(hostile) in \(field)", from: 4000) { length in
                var request = HTTPRequest(method: .post, scheme: "http", authority: "evil.example", path: "/_sim/clock")
                request.headerFields[field] = hostile.text(length)
                return request
            } _: { request in
                let reader = HeaderReader(request.headerFields)
                _ = (reader.credential, reader.language, reader.requestID, reader.jsonMediaTypeProblem)
                _ = (
                    reader.isArchive, reader.documentMediaTypeProblem, reader.apiVersionProblem(), reader.announcesBody
                )
                _ = (hosts.refusal(request, isControl: true), keys.refusal(request, "/_sim/clock"))
                _ = NamespaceChoice.named(by: request)
                _ = try reader.contentDigests()
            }
        }
    }

    @Test(arguments: Hostile.allCases) func hostsAndTargets(hostile: Hostile) {
        let hosts = HostGuard(allowedHosts: ["sim.example.com"])
        for shape in ["X", "l-X", "[X]", "X.localhost."] {
            Growth.isLinear("\(hostile) in the host \(shape)", from: 4000) { length in
                let host = shape.replacing(each: "X", with: hostile.text(length))
                return HTTPRequest(method: .post, scheme: "http", authority: host, path: "/_sim/clock")
            } _: { request in
                _ = (hosts.refusal(request, isControl: true), NamespaceChoice.named(by: request))
            }
        }
        for shape in ["/X/", "/ns/X", "/%41X", "/sdk/config?X", "/a?b=X"] {
            Growth.isLinear("\(hostile) in the target \(shape)", from: 4000) { length in
                shape.replacing(each: "X", with: hostile.text(length))
            } _: { text in
                let target = Target(text)
                _ = (target.isControl, target.isServersOwn, RoutePath.plain(target.path))
                var query = FieldReader(query: Substring(target.query.utf8.dropFirst()), isStrict: true)
                _ = (query.given("b"), query.word("config_type", ConfigType.self), query.number("limit", in: 1...9))
                try query.finish()
            }
        }
    }

    // MARK: Rules and queries

    @Test(arguments: Hostile.allCases) func rules(hostile: Hostile) throws {
        let seed = try Seed.standard()
        let catalogue = seed.entrupy.catalogue
        func value(_ length: Int) -> JSONValue { .string(hostile.text(length)) }
        Growth.isLinear("an outcome rule and \(hostile)", value) {
            _ = try OutcomeRule(
                .object(["match": .object(["brand": $0, "customer_item_id": $0]), "result": $0, "after": $0]), seed)
        }
        Growth.isLinear("a fault rule and \(hostile)", value) {
            _ = try FaultRule(
                .object([
                    "match": .object(["route": $0, "method": $0, "header": .object(["X": $0])]),
                    "effect": .object(["delay": $0]),
                ]), id: "", .simulated)
        }
        Growth.isLinear("settings and \(hostile)", value) { value in
            _ = try Settings(
                .object(["rate_limits": value, "capture_timeout": value, "result": .object(["default": value])]),
                .simulated)
        }
        Growth.isLinear("an item and \(hostile)", value) { value in
            let names = ItemField.allCases.map { ($0.rawValue, value) }
            let metadata = ItemMetadata(members: JSONObject(names))
            _ = (
                metadata.problems(catalogue, .authentication), metadata.brand(catalogue),
                MagicItemID(metadata.text(.upc) ?? "")
            )
        }
        Growth.isLinear("filters and \(hostile)", value) { value in
            let filter = SearchFilter(key: value.text ?? "", value: value.text)
            let known = SearchFilter(key: SearchKey.brand.rawValue, values: [value.text ?? ""])
            _ = FilterReader([filter, known], keys: SearchKey.allCases, catalogue).problems
        }
    }

    @Test(arguments: Hostile.allCases) func texts(hostile: Hostile) {
        Growth.isLinear("\(hostile)", hostile.text) { text in
            _ = (Span(text), Span(text + "s"), Instant(text), Instant("2026-01-05T09:00:00." + text))
            _ = (MagicItemID(text), MagicItemID("sim-unknown-after-" + text), PartnerVersion(header: text))
            _ = (TextRules.uniqueUserIDProblem(text), TextRules.emailProblem(text))
            var fields = FieldReader(["method": .string(text)])
            _ = fields.method("method")
            _ = (Base64URL.decode(text), WebhookTarget.read("http://\(text)/"), WebhookTarget.Address(text))
            _ = (try? Seed.named(text), try? SnapshotName.check(text), text.spelledOut)
            _ = JournalQuery.StatusPattern(text)
            _ = EscapedHTML().escapeText(text)
        }
    }

    @Test(arguments: Hostile.allCases) func globs(hostile: Hostile) {
        for pattern in [String(repeating: "*a", count: 400) + "b", String(repeating: "?*", count: 500), "*", "/sdk/*"] {
            let glob = Glob(pattern)
            Growth.isLinear("\(pattern.prefix(8)) and \(hostile)", from: 4000, hostile.text) { _ = glob.matches($0) }
        }
        let routes = ["/sdk/results/*/flag", "*"].map { Glob($0) }
        Growth.isLinear("\(hostile)", hostile.text) { text in
            let glob = Glob(text)
            _ = (glob.matches(text), routes.map { $0.overlaps(glob) })
        }
    }

    @Test(arguments: Hostile.allCases) func signedRequests(hostile: Hostile) {
        for shape in ["X", "X.X.X", "eyJ.X.X"] {
            Growth.isLinear("\(hostile) as \(shape)") { length in
                let document = Self.documents(hostile, length)[1]
                return [
                    shape.replacing(each: "X", with: hostile.text(length)),
                    shape.replacing(each: "X", with: Base64URL.encode(Data(document))),
                ]
            } _: { tokens in
                for token in tokens { _ = try? SignedRequests.claims(of: token, signedWith: .withRandomKey()) }
            }
        }
    }
}

private enum WireJSONText {
    static func quoted(_ text: String) -> Data {
        (try? WireJSON.encode(JSONValue.string(text))) ?? Data()
    }
}
