import Foundation
import HTTPTypes
import Hummingbird
import NIOConcurrencyHelpers
import NIOCore
import TestSupport
import Testing

@testable import Server
@testable import Simulation

/// The responders that are for web pages: those of other origins, compressed answers, and the console's pages.
extension PipelineTests {
    private static func answer(text: String, _ fields: HTTPFields = [.contentType: "application/json"]) -> Answer {
        var fields = fields
        fields[.contentLength] = "\(text.utf8.count)"
        return Answer(Response(status: .ok, headers: fields, body: .init(byteBuffer: ByteBuffer(string: text))))
    }

    // MARK: Pages of other origins

    @Test(arguments: ["http://localhost:3000", "https://app.example.com"])
    func pagesOfAllowedOriginsMayReadAnswers(origin: String) async throws {
        let inner = Inner { _ in Self.answer(text: Self.text, [.vary: "Accept-Encoding"]) }
        for origins in [["http://localhost:3000", "https://app.example.com"], ["*"]] {
            let answer = try await CORSResponder(inner: inner, origins: AllowedOrigins(origins))
                .respond(to: Self.request("/sdk/session", headers: [.origin: origin]))
            let fields = answer.response.headers
            #expect(fields[.accessControlAllowOrigin] == origin)
            #expect(fields[.accessControlExposeHeaders]?.contains("X-Request-Id") == true)
            #expect(fields[values: .vary] == ["Accept-Encoding", "Origin"])
            #expect(await Self.text(answer.response) == Self.text)
            #expect(answer.original.headers[.accessControlAllowOrigin] == nil, "the journal holds the plain answer")
        }
        #expect(inner.count.withLockedValue { $0 } == 2)
    }

    @Test(
        arguments: [
            (["http://localhost:3000"], "/sdk/session", "http://localhost:3001"),
            (["http://localhost:3000"], "/sdk/session", "http://localhost:3000.example.com"),
            (["http://localhost:3000"], "/sdk/session", "null"), (["http://localhost:3000"], "/sdk/session", nil),
            (["http://localhost:3000"], "/_sim/clock", "http://localhost:3000"),
            (["*"], "//_sim/clock", "http://localhost:3000"), (["*"], "/ns/a/_sim/clock", "http://localhost:3000"),
            ([], "/sdk/session", "http://localhost:3000"),
        ] as [([String], String, String?)])
    func otherOriginsAndTheControlAPIGetNoCORSFields(origins: [String], path: String, origin: String?) async throws {
        let inner = Inner()
        let responder = CORSResponder(inner: inner, origins: AllowedOrigins(origins))
        var fields: HTTPFields = [.accessControlRequestMethod: "POST"]
        fields[.origin] = origin
        for method in [HTTPRequest.Method.get, .options] {
            let answer = try await responder.respond(to: Self.request(path, method, headers: fields))
            let names = answer.response.headers.map(\.name.canonicalName)
            #expect(names.sorted() == ["content-length", "content-type"])
        }
        #expect(inner.count.withLockedValue { $0 } == 2, "no preflight is answered either")
    }

    @Test func aPreflightIsAnsweredBeforeTheRest() async throws {
        let inner = Inner()
        let responder = CORSResponder(inner: inner, origins: AllowedOrigins(["http://localhost:3000"]))
        var fields: HTTPFields = [
            .origin: "http://localhost:3000", .accessControlRequestMethod: "PUT",
            .accessControlRequestHeaders: "authorization, content-type",
        ]
        let preflight = try await responder.respond(to: Self.request("/sdk/captures", .options, headers: fields))
        #expect(preflight.response.status == .noContent && preflight.outcome == nil)
        let allowed = preflight.response.headers
        #expect(allowed[.accessControlAllowOrigin] == "http://localhost:3000")
        #expect(allowed[.accessControlAllowMethods] == "GET, HEAD, POST, PUT, PATCH, DELETE")
        #expect(allowed[.accessControlAllowHeaders] == "authorization, content-type")
        #expect(allowed[.accessControlMaxAge] == "600" && allowed[.vary] == "Origin")
        #expect(inner.count.withLockedValue { $0 } == 0)
        // Any other OPTIONS is a request like the rest.
        fields[.accessControlRequestMethod] = nil
        let plain = try await responder.respond(to: Self.request("/sdk/captures", .options, headers: fields))
        #expect(plain.response.status == .ok && plain.response.headers[.accessControlAllowMethods] == nil)
        #expect(inner.count.withLockedValue { $0 } == 1)
    }

    // MARK: Compression

    /// A JSON text of a length, which gzip shortens to less than half.
    private static func json(_ length: Int) -> String {
        String(("[" + (0..<length).map { "\($0 * 7919)" }.joined(separator: ",")).prefix(length))
    }

    /// Whether an answer is compressed. Checks the fields and the bytes of both forms.
    private static func isCompressed(_ answer: Answer, _ text: String) async throws -> Bool {
        let fields = answer.response.headers
        let bytes = Data((await answer.response.collectedBody()).readableBytesView)
        let isCompressed = fields[.contentEncoding] == "gzip"
        let vary: String? = isCompressed ? "Accept-Encoding" : nil
        #expect(fields[.vary] == vary)
        #expect(fields[.contentLength] == "\(bytes.count)")
        let plain = try isCompressed ? bytes.decompressed() : bytes
        #expect(plain == Data(text.utf8))
        #expect(await Self.text(answer.original) == text, "the journal holds the plain body")
        return isCompressed
    }

    @Test(
        arguments: [
            ("gzip", true), ("GZIP", true), ("deflate, gzip;q=0.5", true), ("x-gzip", true), ("*", true),
            ("*;q=0, gzip", true), (nil, false), ("", false), ("identity", false), ("br", false), ("gzip;q=0", false),
            ("gzip;q=0.000, *", false), ("*;q=0", false),
        ] as [(String?, Bool)])
    func answersAreCompressedForClientsThatAcceptGzip(accepted: String?, isCompressed: Bool) async throws {
        let text = Self.json(2_000)
        var fields: HTTPFields = [:]
        fields[.acceptEncoding] = accepted
        let inner = Inner { _ in Self.answer(text: text) }
        let answer = try await CompressingResponder(inner: inner, environment: Self.namespaces().environment)
            .respond(to: Self.request("/sdk/config", headers: fields))
        #expect(try await Self.isCompressed(answer, text) == isCompressed)
    }

    /// One that shrinks more than 20 times stays plain, because some clients refuse to expand it.
    @Test(arguments: [
        (PipelineTests.json(1_023), false), (PipelineTests.json(1_024), true), (PipelineTests.json(50_000), true),
        (String(repeating: "a", count: 50_000), false),
    ])
    func theLengthAndTheRatioDecide(text: String, isCompressed: Bool) async throws {
        let inner = Inner { _ in Self.answer(text: text) }
        let answer = try await CompressingResponder(inner: inner, environment: Self.namespaces().environment)
            .respond(to: Self.request("/sdk/config", headers: [.acceptEncoding: "gzip"]))
        #expect(try await Self.isCompressed(answer, text) == isCompressed)
    }

    /// A thousand answers of the description that wait to be read take its bytes once.
    @Test func answersOfAConstantDocumentShareItsBytesAndItsGzip() async throws {
        let text = Self.json(50_000)
        let document = ConstantDocument(ByteBuffer(string: text))
        let inner = Inner { _ in
            var answer = Answer(
                Response(
                    status: .ok,
                    headers: [.contentType: "application/yaml", .contentLength: "\(document.plain.readableBytes)"],
                    body: .init(byteBuffer: document.plain)))
            answer.document = document
            return answer
        }
        let responder = CompressingResponder(inner: inner, environment: try await Self.namespaces().environment)
        var places: Set<UInt> = []
        for accepted in ["gzip", "gzip", "identity", "gzip", "identity"] {
            let answer = try await responder.respond(to: Self.request("/x", headers: [.acceptEncoding: accepted]))
            #expect(try await Self.isCompressed(answer, text) == (accepted == "gzip"))
            let body = await answer.response.collectedBody()
            places.insert(body.withUnsafeReadableBytes { UInt(bitPattern: $0.baseAddress) })
        }
        #expect(places.count == 2, "one of the plain bytes, and one of the gzip")
    }

    @Test func onlyTextWithoutAFaultIsCompressed() {
        func helps(_ fields: HTTPFields, length: Int = 1_024) -> Bool {
            GzipEncoder.isWorthCompressing(
                Response(
                    status: .ok, headers: fields, body: .init(byteBuffer: ByteBuffer(repeating: 0x20, count: length))),
                for: [.acceptEncoding: "gzip"])
        }
        for type in ["application/json", "text/html; charset=utf-8", "image/svg+xml", "application/yaml"] {
            #expect(helps([.contentType: type]), "\(type)")
        }
        for type in ["image/jpeg", "application/x-tar", "video/mp4"] {
            #expect(!helps([.contentType: type]), "\(type)")
        }
        #expect(!helps([:]))
        #expect(!helps([.contentType: "application/json", .contentEncoding: "gzip"]))
        #expect(!helps([.contentType: "application/json", .fault: "flt_1"]))
        #expect(helps([.contentType: "application/json"], length: 8_000_000))
        #expect(!helps([.contentType: "application/json"], length: 8_000_001), "it would be held in memory")
    }

    // MARK: Pages of the console

    private static func showing(_ inner: Inner) async throws -> ControlResponder<Inner> {
        let environment = try await namespaces().environment
        environment.address.set("http://127.0.0.1:9", followsRequests: false)
        let access = ControlAccess(
            hosts: HostGuard(allowedHosts: []), key: ControlKey(token: nil), csrfToken: "page-1")
        return ControlResponder(inner: inner, access: access, environment: environment)
    }

    @Test(arguments: [
        ("/_sim/console", ""), ("/_sim/console/items", ""), ("/ns/run-1/_sim/console/items/A", "/ns/run-1"),
    ])
    func errorsOfTheConsoleBecomePages(path: String, base: String) async throws {
        func page(_ error: PlatformError) async throws -> Response {
            try await Self.showing(Inner { _ in Answer(ErrorAnswer.response(error, requestID: "req-1")) })
                .respond(to: Self.request(path, headers: [.accept: "application/xhtml+xml, text/html;q=0.9"])).response
        }
        let missing = try await page(.notFound("there is no <item>"))
        #expect(missing.status == .notFound && missing.headers[.requestID] == "req-1")
        #expect(missing.headers[.contentType] == "text/html; charset=utf-8")
        #expect(missing.headers[.contentSecurityPolicy]?.contains("default-src 'none'") == true)
        let text = await Self.text(missing)
        #expect(text.contains("there is no &lt;item&gt;") && !text.contains("<form"))
        let gone = await Self.text(try await page(.unknownNamespace("there is no such namespace")))
        #expect(gone.contains("entrupy-sim namespace make --url http://127.0.0.1:9 "), "the server's own address")
        let refused = try await page(.unauthorized("the control token is missing"))
        #expect(refused.status == .unauthorized)
        #expect(await Self.text(refused).contains("<form method=\"post\" action=\"\(base)/_sim/console/token\">"))
    }

    @Test(
        arguments: [
            ("/_sim/console", .get, "application/json"), ("/_sim/console", .get, "*/*"),
            ("/_sim/console/token", .post, "text/html"), ("/_sim/consoles", .get, "text/html"),
            ("/_sim/clock", .get, "text/html"), ("/sdk/session", .get, "text/html"), ("/", .post, "text/html"),
        ] as [(String, HTTPRequest.Method, String)])
    func otherErrorsStayJSON(path: String, method: HTTPRequest.Method, accepted: String) async throws {
        let error = ErrorAnswer.response(.notFound("gone"), requestID: "req-1")
        let answer = try await Self.showing(Inner { _ in Answer(error) })
            .respond(to: Self.request(path, method, headers: [.accept: accepted]))
        #expect(answer.response.status == .notFound)
        #expect(answer.response.headers[.contentType] == "application/json")
        let original = await Self.text(error)
        #expect(await Self.text(answer.response) == original)
    }

    @Test func aPageThatIsNotAnErrorIsUnchanged() async throws {
        let answer = try await Self.showing(Inner())
            .respond(to: Self.request("/_sim/console", headers: [.accept: "text/html"]))
        #expect(answer.response.status == .ok)
        #expect(await Self.text(answer.response) == Self.text)
    }

    @Test(arguments: [("/", "/_sim/console"), ("/?a=1", "/_sim/console"), ("/ns/run-1/", "/ns/run-1/_sim/console")])
    func theRootRedirectsToTheConsole(path: String, location: String) async throws {
        let inner = Inner()
        for method in [HTTPRequest.Method.get, .head] {
            let answer = try await Self.showing(inner).respond(to: Self.request(path, method))
            #expect(answer.response.status == .seeOther && answer.response.headers[.location] == location)
        }
        #expect(inner.count.withLockedValue { $0 } == 0, "no platform sees the request")
    }
}
