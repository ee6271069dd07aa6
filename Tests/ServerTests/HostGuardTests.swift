import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Simulation
import Testing

@testable import Server

@Suite struct HostGuardTests {
    private static let hosts = HostGuard(
        allowedHosts: ["sim.example.com", ".corp.example", "*.certificate.example", " Upper.Example "],
        origins: ["http://localhost:3000", "capacitor://localhost"], publicURL: "https://public.example:8443/base")

    private static func isRefused(
        _ authority: String?, method: HTTPRequest.Method = .get, isControl: Bool = false, _ fields: HTTPFields = [:],
        by hosts: HostGuard = hosts
    ) -> Bool {
        let request = HTTPRequest(
            method: method, scheme: "http", authority: authority, path: "/sdk/session", headerFields: fields)
        return hosts.refusal(request, isControl: isControl) != nil
    }

    private static func isRefused(
        _ authority: String?, _ method: HTTPRequest.Method = .post, origin: String, isControl: Bool = false,
        by hosts: HostGuard = hosts
    ) -> Bool {
        isRefused(authority, method: method, isControl: isControl, [.origin: origin], by: hosts)
    }

    // MARK: Host

    @Test(arguments: [
        "127.0.0.1:8642", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65535", "localhost", "localhost:1", "LocalHost:8642",
        "localhost.", "localhost.:80", "run-7.localhost:8642", "RUN-7.localhost", "-a.localhost", "[::1]:8642", "[::1]",
        "[::ffff:127.0.0.1]", "[FE80::1]:80", "[fe80::1%25eth0]", "[fe80::1%eth0]:80", "sim", "sim.", "my_container:1",
        "-worker-1-", "host.docker.internal:8642", "host.containers.internal", "gateway.docker.internal:1",
        "host.orb.internal", "host.lima.internal:8642", "HOST.minikube.internal", "10.0.0.7", "192.168.1.20:8642",
        "SIM.example.com",
        "sim.example.com.:8642", "corp.example", "a.corp.example", "a.b.corp.example:1", "a.certificate.example",
        "upper.example",
    ])
    func theseHostsAreAnswered(authority: String) {
        #expect(!Self.isRefused(authority))
        #expect(!Self.isRefused(authority, method: .post))
    }

    @Test(arguments: [
        "evil.example.com", "localhost.evil.com", "127.0.0.1.evil.com", "sim.example.com.evil.com", "evilcorp.example",
        "certificate.example", "a.b.certificate.example", ".certificate.example", ".corp.example", "a..corp.example",
        "shop.test", "printer.local", "", ".", "..", ":80", "[]", "[", "]", "[::1", "[::1]x", "[::1]80", "[:::1]",
        "[1::2::3]", "[127.0.0.1]", "[evil.com]", "[evil.com", "[v1.evil.com]", "[localhost]", "[%25]",
    ])
    func theseHostsAreRefused(authority: String) {
        #expect(Self.isRefused(authority))
        #expect(Self.isRefused(authority, method: .post))
    }

    /// The whole text must be a host and a port: a beginning that looks right is not enough.
    @Test(arguments: [
        "127.0.0.1:80.evil.com", "localhost:80.evil.com", "127.0.0.1:evil.com", "localhost:evil.com", "127.0.0.1x",
        "localhostx.evil.com", "localhost:80:80", "localhost:65536", "localhost:99999", "127.0.0.1:99999",
        "127.0.0.1:123456", "localhost:000080", "localhost:-1", "localhost:+1", "localhost:0x50", "localhost: 80",
        "evil.com:127.0.0.1", "user@localhost", "localhost@evil.com", "localhost%2eevil.com", "local host",
        "localhost/evil.com", "localhost#evil.com", "localhost\\evil.com", "b\u{fc}cher.localhostx",
    ])
    func aHostIsReadAsAWhole(authority: String) {
        #expect(Self.isRefused(authority))
        #expect(Self.isRefused(authority, method: .put))
    }

    /// Browsers send every number in the usual form, and never look one up.
    @Test(arguments: [
        ("2130706433", true), ("127.1", true), ("0x7f.1", true), ("0x7F000001", true), ("0177.0.0.1", true),
        ("127.0.0.1.", true), ("0", true), ("0x", true), ("4294967295", true), ("255.16777215", true),
        ("4294967296", false), ("255.16777216", false), ("256.1", false), ("256.1.1.1", false), ("1.2.3.256", false),
        ("1.2.3.4.5", false), ("08.1", false), ("evil.com.1", false), ("evil.0x7f", false), ("1e3.1", false),
        ("99999999999999999999", false), ("0x10000000000000000", false), ("127.0.0.+1", false),
    ])
    func aNumberIsAnAddressOrNothing(authority: String, isAddress: Bool) {
        #expect(HostAndPort(authority)?.isAddress == (isAddress ? true : nil))
        #expect(Self.isRefused(authority) == !isAddress)
    }

    @Test func namesOfOtherAlphabetsAreComparedAsBrowsersSendThem() {
        let hosts = HostGuard(allowedHosts: ["xn--bcher-kva.example"])
        #expect(!Self.isRefused("XN--bcher-kva.example:8642", by: hosts))
        #expect(Self.isRefused("b\u{fc}cher.example", by: hosts))
    }

    @Test func anOldRequestWithoutAHostIsAnswered() {
        #expect(!Self.isRefused(nil) && !Self.isRefused(nil, method: .post))
        #expect(Self.isRefused(nil, origin: "http://evil.example"))
    }

    @Test func namesOfThisMachineAreItsHostName() throws {
        var bytes = [CChar](repeating: 0, count: 256)
        try #require(gethostname(&bytes, 255) == 0)
        let name = String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self).lowercased()
        let first = name.split(separator: ".")[0]
        #expect(LocalNames.hosts == [name, "\(first).local"])
    }

    @Test(arguments: [
        ("sim.example.com", true), (".example.com", true), ("10.0.0.7", true), ("[::1]", true), ("my_box", true),
        ("xn--bcher-kva.example", true), ("", false), (".", false), ("*", false), ("*.example.com", false),
        ("localhost:8642", false), ("localhost:", false), ("[::1]:80", false), ("http://sim.example.com", false),
        ("sim.example.com/", false), ("b\u{fc}cher.example", false), ("a..b", false), ("a b", false),
    ])
    func anAllowedHostIsANameOrADomain(text: String, isValid: Bool) {
        #expect(AllowedHosts.isPattern(text) == isValid)
    }

    // MARK: Origin

    @Test(arguments: [
        ("localhost:8642", "http://localhost:8642"), ("localhost:8642", "https://localhost:8642"),
        ("LOCALHOST:8642", "http://localhost:8642"), ("localhost", "http://localhost"), ("sim", "https://sim"),
        ("sim.example.com:443", "https://sim.example.com"), ("sim:80", "http://sim"), ("[::1]:1", "http://[::1]:1"),
        // A port that is mapped to the server's, as the browser sees it.
        ("127.0.0.1:9000", "http://127.0.0.1:9000"), ("192.168.1.20:8642", "http://192.168.1.20:8642"),
        // A proxy that gives its requests another host.
        ("127.0.0.1:8642", "https://public.example:8443"),
    ])
    func theServersOwnPagesMayChange(authority: String, origin: String) {
        #expect(!Self.isRefused(authority, origin: origin))
        #expect(!Self.isRefused(authority, origin: origin, isControl: true))
    }

    @Test(arguments: [
        "http://evil.com", "null", "", "http://localhost", "http://localhost:9999", "http://127.0.0.1:8642",
        "http://localhost:8642.evil.com", "http://localhost:8642/", "http://localhost:8642@evil.com", "localhost:8642",
        "ftp://localhost:8642", "http://localhost:86420", "http://localhost:8642, http://evil.com",
        "http://public.example:8443", "https://public.example", "http://localhost:8642\u{301}",
    ])
    func aPageOfAnotherOriginMayReadButNotChange(origin: String) {
        for method in [HTTPRequest.Method.get, .head, .options] {
            #expect(!Self.isRefused("localhost:8642", method, origin: origin))
        }
        for method in [HTTPRequest.Method.post, .put, .patch, .delete, .trace, .connect] {
            #expect(Self.isRefused("localhost:8642", method, origin: origin))
            #expect(Self.isRefused("localhost:8642", method, origin: origin, isControl: true))
        }
    }

    @Test(arguments: ["http://localhost:3000", "capacitor://localhost"])
    func allowedOriginsMayChangeThePlatformsAlone(origin: String) {
        #expect(!Self.isRefused("127.0.0.1:8642", origin: origin))
        #expect(Self.isRefused("127.0.0.1:8642", origin: origin, isControl: true))
        let all = HostGuard(allowedHosts: [], origins: ["*"])
        for origin in [origin, "null", "https://anywhere.example"] {
            #expect(!Self.isRefused("127.0.0.1:8642", origin: origin, by: all))
            #expect(Self.isRefused("127.0.0.1:8642", origin: origin, isControl: true, by: all))
        }
    }

    @Test func severalOriginsAreNotOne() {
        var fields = HTTPFields()
        fields[values: .origin] = ["http://localhost:8642", "http://evil.com"]
        #expect(Self.isRefused("localhost:8642", method: .post, fields))
    }

    @Test(arguments: [
        ("cross-site", true), ("Cross-Site", true), (" cross-site ", true), ("same-origin", false),
        ("same-site", false), ("none", false), ("", false),
    ])
    func aBrowserThatNamesNoOriginMayNotChangeAcrossSites(site: String, isRefused: Bool) throws {
        let name = try #require(HTTPField.Name("Sec-Fetch-Site"))
        #expect(Self.isRefused("localhost:8642", method: .post, [name: site]) == isRefused)
        #expect(!Self.isRefused("localhost:8642", method: .get, [name: site]))
        // An origin says more.
        #expect(!Self.isRefused("localhost:1", method: .post, [name: site, .origin: "http://localhost:1"]))
        #expect(!Self.isRefused("localhost:1", method: .post, [name: site, .origin: "http://localhost:3000"]))
    }

    // MARK: Answers

    private static func error(_ refusal: BoundaryRefusal?) -> String {
        refusal.map { "\($0.error.message) \($0.error.details.map(\.problem))" } ?? "allowed"
    }

    @Test func aRefusalNamesTheOptionAndNoTextThatAShellReads() {
        #expect(Self.error(.host("Sim.Example.net:80")).contains("--allowed-hosts sim.example.net "))
        #expect(Self.error(.origin("http://a.example:80", isControl: false)).contains("--cors http://a.example "))
        for hostile in ["$(touch.x)", "a.b;touch", "a.b`id`"] {
            let texts = [Self.error(.host(hostile)), Self.error(.origin("http://\(hostile)", isControl: false))]
            for text in texts {
                #expect(text.contains("--"))
                #expect(!text.contains("--allowed-hosts \(hostile)") && !text.contains("--cors http://\(hostile)"))
            }
        }
        #expect(Self.error(.origin("http://a", isControl: true)).contains("--cors does not open it"))
    }

    @Test func refusalsAreCountedKeptAndLoggedWithBounds() {
        let lines = LinesLogHandler.Lines()
        let time = NIOLockedValueBox(ContinuousClock.now)
        let refused = RefusedRequests(
            logger: Logger(label: "test") { _ in LinesLogHandler(lines: lines) }, now: { time.withLockedValue { $0 } })
        for number in 0..<500 { refused.note(.host("evil\(number).example")) }
        refused.note(.origin("http://\u{9b}31m\r\nx" + String(repeating: "a", count: 1000), isControl: false))
        refused.note(.crossSite)
        refused.note(.crossSite)
        refused.note(.method("PROPFIND"))
        let summary = refused.summary
        #expect(summary.count == 503 && summary.latest.count == 20)
        #expect(summary.latest[0].header == "Sec-Fetch-Site" && summary.latest[0].count == 2)
        #expect(summary.latest[1].value.hasPrefix("http://??31m??xaaa") && summary.latest[1].value.utf8.count < 210)
        #expect(summary.latest[2].value == "evil499.example" && summary.latest[2].last_real > 1_700_000_000)
        #expect(lines.texts.count == 10 && lines.texts[0].contains("evil0.example"))
        time.withLockedValue { $0 += .seconds(61) }
        for _ in 0..<20 { refused.note(.crossSite) }
        #expect(lines.texts.count == 20 && lines.texts[10].contains("493"), "\(lines.texts)")
    }

    // MARK: The pipeline

    private static func pipeline() async throws -> (Pipeline, RefusedRequests) {
        let server = try SimServer(
            ServerConfiguration(
                version: "test",
                namespaces: NamespacesConfiguration(
                    dataDirectory: nil, durability: .process, seed: .standard(), randomSeed: 1, settings: .object([:]),
                    autoCreates: false)),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        try await server.namespaces.openAll()
        server.readiness.open()
        return (server.responder(), server.refused)
    }

    /// The method decides first, then the host, then the origin.
    @Test(arguments: [
        ("PROPFIND", "evil.example", 501, "not_implemented"), ("BREW", "localhost", 501, "not_implemented"),
        ("get", "localhost", 501, "not_implemented"), ("POST", "evil.example", 403, "Host"),
        ("POST", "localhost", 403, "Origin"), ("TRACE", "localhost", 403, "Origin"),
        ("GET", "localhost", 401, "unauthorized"), ("OPTIONS", "localhost", 405, "method_not_allowed"),
    ])
    func theChecksHaveAnOrder(method: String, host: String, status: Int, text: String) async throws {
        let (pipeline, refused) = try await Self.pipeline()
        for path in ["/sdk/session", "/components/sessions/x"] {
            let head = HTTPRequest(
                method: try #require(HTTPRequest.Method(method)), scheme: "http", authority: host, path: path,
                headerFields: [.origin: "http://evil.example"])
            let source = ApplicationRequestContextSource(
                channel: PipelineTests.openChannel(), logger: Logger(label: "test"))
            let response = try await pipeline.respond(
                to: Request(head: head, body: .init(buffer: ByteBuffer())), context: SimContext(source: source))
            // App Components have other answers of their own.
            guard path.hasPrefix("/sdk") || status == 501 || text.first?.isUppercase == true else { continue }
            let body = await PipelineTests.text(response)
            #expect(response.status.code == status && body.contains(text), "\(body)")
            let sdkError = path.hasPrefix("/sdk") ? status == 501 ? "\"ErrorCodeBadRequest\"" : "\"ErrorCode" : "null"
            #expect(body.contains("\"sdk_error\":\(sdkError)"), "\(body)")
        }
        #expect(refused.summary.count == (status == 403 ? 2 : 0))
    }
}

/// Keeps the lines of a log.
struct LinesLogHandler: LogHandler {
    final class Lines: Sendable {
        private let box = NIOLockedValueBox<[String]>([])
        var texts: [String] { box.withLockedValue { $0 } }
        func append(_ text: String) { box.withLockedValue { $0.append(text) } }
    }

    let lines: Lines
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.notice

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { lines.append("\(event.message) \(event.metadata ?? [:])") }
}
