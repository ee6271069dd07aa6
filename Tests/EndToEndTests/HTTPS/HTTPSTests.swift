import AsyncHTTPClient
import Foundation
import HTTPSTestSupport
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import SimulationAPI
import TestSupport
import Testing

/// The HTTPS port: certificates, both protocols, and what can be wrong at the start.
@Suite struct HTTPSTests {
    /// A server with both ports, and a client that trusts its authority and nothing else.
    private struct Secure {
        let server: SimProcess
        let port: Int
        let authority: String

        init(_ directory: String, _ arguments: [String] = []) async throws {
            server = try await SimProcess(["--data-dir", directory, "--tls-port", "0", "--ready-json"] + arguments)
            let ready = try WireJSON.decode(JSONValue.self, from: Data(server.greeting.utf8))
            let url = try #require(ready["tls_url"].text)
            #expect(url.hasPrefix("https://localhost:"))
            port = try #require(url.split(separator: ":").last.flatMap { Int($0) })
            authority = ready["tls_authority"].text ?? "none"
        }

        /// Sends a request on a connection of its own.
        func send(
            _ method: HTTPMethod, _ path: String, host: String = "localhost", body: Data? = nil,
            announcesLength: Bool = true, headers: HTTPHeaders = [:],
            version: HTTPClient.Configuration.HTTPVersion = .automatic
        ) async throws -> (response: HTTPClientResponse, body: Data) {
            var configuration = HTTPClient.Configuration()
            // A handshake that fails is tried again until this time is over.
            configuration.timeout.connect = .seconds(2)
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .file(authority)
            configuration.tlsConfiguration = tls
            configuration.httpVersion = version
            // Names below localhost need a resolver that knows them.
            configuration.dnsOverride = [host: "127.0.0.1"]
            let client = HTTPClient(
                eventLoopGroupProvider: .shared(.singletonMultiThreadedEventLoopGroup), configuration: configuration)
            do {
                var request = HTTPClientRequest(url: "https://\(host):\(port)\(path)")
                request.method = method
                request.headers = headers
                if let body {
                    let bytes = ByteBuffer(bytes: body)
                    request.body =
                        announcesLength
                        ? .bytes(bytes)
                        : .stream(
                            AsyncStream {
                                $0.yield(bytes)
                                $0.finish()
                            }, length: .unknown)
                }
                let response = try await client.execute(request, timeout: .minutes(10))
                let bytes = try await response.body.collect(upTo: 50_000_000)
                try await client.shutdown()
                return (response, Data(bytes.readableBytesView))
            } catch {
                try await client.shutdown()
                throw error
            }
        }
    }

    @Test func bothProtocolsAnswerForEveryName() async throws {
        try await Process.withDirectory { directory in
            let secure = try await Secure(directory, ["--allowed-hosts", ".test"])
            let headers: HTTPHeaders = ["Authorization": "Token demo-api-token", "Api-Version": "1.3"]
            for host in ["localhost", "a-test.localhost", "shop.test", "host.docker.internal"] {
                let base = host == "a-test.localhost" ? "/ns/default" : ""
                let new = try await secure.send(.GET, base + "/v1/health", host: host, headers: headers)
                #expect(new.response.status == .ok && new.response.version == .http2, "\(host)")
                let old = try await secure.send(
                    .GET, base + "/v1/health", host: host, headers: headers, version: .http1Only)
                #expect(old.response.status == .ok && old.response.version == .http1_1, "\(host)")
                // URLs lead to the port that was asked.
                for version in [HTTPClient.Configuration.HTTPVersion.automatic, .http1Only] {
                    let info = try await secure.send(.GET, "/ns/default/_sim/info", host: host, version: version)
                    let json = try WireJSON.decode(JSONValue.self, from: info.body)
                    #expect(json["url"].text == "https://\(host):\(secure.port)")
                }
            }
            // The authority may not sign for other names, so nobody can be deceived with its key.
            await #expect(throws: (any Error).self) { try await secure.send(.GET, "/_sim/health", host: "entrupy.com") }
            let shown = try await TestWorld(base: secure.server.baseURL).send("GET", "/_sim/authority.pem")
            #expect(shown.text == (try String(contentsOfFile: secure.authority, encoding: .utf8)))
            secure.server.stop()
        }
    }

    /// A whole capture, with pictures and bodies in both directions.
    @Test func aCaptureIsCompletedOverHTTP2() async throws {
        try await Process.withDirectory { directory in
            let secure = try await Secure(directory)
            let world = try await TestWorld.make(in: secure.server)
            let session = try await world.login()
            let base = "/ns/" + (world.base.split(separator: "/").last.map(String.init) ?? "")
            let token: HTTPHeaders = ["Authorization": "Token \(session)", "Content-Type": "application/json"]
            let started = try await secure.send(
                .POST, base + "/sdk/captures", body: WireJSON.encode(JSONValue.object(["item": TestWorld.nike])),
                headers: token)
            #expect(started.response.status == .created)
            let json = try WireJSON.decode(JSONValue.self, from: started.body)
            let capture = try #require(json["capture_id"].text)
            for step in json["steps"].items {
                let region = try #require(step["region_id"].text)
                let image = try await secure.send(
                    .PUT, "\(base)/sdk/captures/\(capture)/images/\(region)", body: TestWorld.picture,
                    headers: ["Authorization": "Token \(session)", "Expect": "100-continue"])
                #expect(image.response.status == .ok)
            }
            let submitted = try await secure.send(
                .POST, "\(base)/sdk/captures/\(capture)/submit", headers: token)
            #expect(submitted.response.status == .ok)
            // Fields about the connection do not exist in HTTP/2.
            #expect(submitted.response.headers["Connection"].isEmpty)
            secure.server.stop()
        }
    }

    /// A body of HTTP/2 needs no header that announces it (RFC 9113, section 8.1).
    @Test func aBodyWithoutALengthIsRead() async throws {
        try await Process.withDirectory { directory in
            let secure = try await Secure(directory)
            for version in [HTTPClient.Configuration.HTTPVersion.automatic, .http1Only] {
                for announcesLength in [true, false] {
                    let quota = announcesLength ? 7 : 8
                    let answer = try await secure.send(
                        .PATCH, "/_sim/settings", body: Data("{\"quota\": \(quota)}".utf8),
                        announcesLength: announcesLength, headers: ["Content-Type": "application/json"],
                        version: version)
                    let text = String(decoding: answer.body, as: UTF8.self)
                    #expect(answer.response.status == .ok && text.contains("\"quota\":\(quota)"), "\(text)")
                }
                let none = try await secure.send(.POST, "/_sim/clock/freeze", version: version)
                #expect(none.response.status == .ok, "no body is none")
                let tooLong = try await secure.send(
                    .PATCH, "/_sim/settings", body: Data(repeating: 0x20, count: 2_000_000), announcesLength: false,
                    headers: ["Content-Type": "application/json"], version: version)
                #expect(tooLong.response.status == .payloadTooLarge)
            }
            secure.server.stop()
        }
    }

    @Test func aDroppedConnectionEndsOneStream() async throws {
        try await Process.withDirectory { directory in
            let secure = try await Secure(directory)
            let root = TestWorld(base: secure.server.baseURL)
            _ = try await root.send(
                "POST", "/_sim/faults",
                ["match": ["route": "/v1/health"], "effect": ["drop_connection": true], "times": 2])
            let headers: HTTPHeaders = ["Authorization": "Token demo-api-token", "Api-Version": "1.3"]
            for version in [HTTPClient.Configuration.HTTPVersion.automatic, .http1Only] {
                await #expect(throws: (any Error).self) {
                    try await secure.send(.GET, "/v1/health", headers: headers, version: version)
                }
            }
            #expect(try await secure.send(.GET, "/v1/health", headers: headers).response.status == .ok)
            let journal = try await root.send("GET", "/_sim/requests")
            #expect(journal["requests"].items.count == 3)
            #expect(journal["requests"].items.map { $0["delivered"] } == [true, false, false])
            secure.server.stop()
        }
    }

    /// RST_STREAM with CANCEL (RFC 9113, section 7) on a stream that the server has not answered. The connection goes on.
    @Test func aLostRequestIsResetInBothProtocols() async throws {
        try await Process.withDirectory { directory in
            let secure = try await Secure(directory)
            let root = TestWorld(base: secure.server.baseURL)
            let token = try await root.login()
            _ = try await root.send(
                "POST", "/_sim/faults",
                ["match": ["route": "/sdk/captures"], "effect": ["lose_request": true], "times": 2])
            let fields = [("authorization", "Token \(token)"), ("content-type", "application/json")]
            let body = Array(try WireJSON.encode(["item": TestWorld.nike] as JSONValue))
            let connection = try await HTTP2Connection.open(port: secure.port, trusting: .file(secure.authority))
            let lost = try await connection.answer(
                connection.begin("POST", "/sdk/captures", fields, body: body))
            #expect(lost.isReset && lost.status == nil && lost.resetCode == 8)
            let headers: HTTPHeaders = ["Authorization": "Token \(token)", "Content-Type": "application/json"]
            await #expect(throws: (any Error).self) {
                try await secure.send(
                    .POST, "/sdk/captures", body: Data(body), headers: headers, version: .http1Only)
            }
            #expect(try await root.counts()["captures"] == 0)
            let next = try await connection.answer(connection.begin("POST", "/sdk/captures", fields, body: body))
            #expect(next.status == 201)
            let journal = try await root.send("GET", "/_sim/requests?route=/sdk/captures")["requests"].items
            #expect(journal.map { $0["status"] } == [201, nil, nil])
            #expect(journal.map { $0["delivered"] } == [true, false, false])
            try await connection.close()
            secure.server.stop()
        }
    }

    @Test func aStreamThatItsClientResetsIsNotDelivered() async throws {
        try await Process.withDirectory { directory in
            let secure = try await Secure(directory)
            let root = TestWorld(base: secure.server.baseURL)
            let token = try await root.login()
            _ = try await root.send(
                "POST", "/_sim/faults", ["match": ["route": "/sdk/session"], "effect": ["slow_body": 20], "times": 1])
            let connection = try await HTTP2Connection.open(port: secure.port, trusting: .file(secure.authority))
            let fields = [("authorization", "Token \(token)")]
            let stream = try await connection.begin("GET", "/sdk/session", fields)
            while try await root.send("GET", "/_sim/requests?route=/sdk/session")["requests"].items.isEmpty {
                await Task.yield()
            }
            try await connection.reset(stream)
            var lost: [JSONValue] = []
            for _ in 0..<5_000 where lost.isEmpty {
                lost = try await root.send("GET", "/_sim/requests?delivered=false")["requests"].items
            }
            #expect(lost.map { $0["path"] } == ["/sdk/session"])
            #expect(try await connection.answer(connection.begin("GET", "/sdk/session", fields)).status == 200)
            let newest = try await root.send("GET", "/_sim/requests?limit=1")["requests.0"]
            #expect(newest["delivered"] == true)
            try await connection.close()
            secure.server.stop()
        }
    }

    /// A stream is held for itself: others of its connection go on, and a reset of it ends the hold.
    @Test func aHeldStreamIsReleasedOrNeverHandled() async throws {
        try await Process.withDirectory { directory in
            let secure = try await Secure(directory)
            let root = TestWorld(base: secure.server.baseURL)
            let fields = [("authorization", "Token \(try await root.login())")]
            _ = try await root.send(
                "POST", "/_sim/faults", ["match": ["route": "/sdk/session"], "effect": ["hold": true], "times": 2])
            let connection = try await HTTP2Connection.open(port: secure.port, trusting: .file(secure.authority))
            func held() async throws -> JSONValue {
                while true {
                    let list = try await root.send("GET", "/_sim/held")["held"].items
                    if let first = list.first { return first }
                    await Task.yield()
                }
            }
            let first = try await connection.begin("GET", "/sdk/session", fields)
            let one = try await held()
            #expect(try await connection.answer(connection.begin("GET", "/sdk/config", fields)).status == 200)
            #expect(try await root.send("POST", "/_sim/held/\(one["id"].text ?? "")/release").status == 200)
            #expect(try await connection.answer(first).status == 200)
            let second = try await connection.begin("GET", "/sdk/session", fields)
            _ = try await held()
            try await connection.reset(second)
            while try await !root.send("GET", "/_sim/held")["held"].items.isEmpty { await Task.yield() }
            let newest = try await root.send("GET", "/_sim/requests?route=/sdk/session&limit=1")["requests.0"]
            #expect(newest["status"] == .null)
            #expect(newest["delivered"] == false)
            try await connection.close()
            secure.server.stop()
        }
    }

    /// The boundary is that of the plain port. HTTP/2 lets every token in as a method.
    @Test func hostsOriginsAndMethodsAreChecked() async throws {
        try await Process.withDirectory { directory in
            let secure = try await Secure(directory)
            for version in [HTTPClient.Configuration.HTTPVersion.automatic, .http1Only] {
                func status(_ method: HTTPMethod, _ path: String, _ headers: HTTPHeaders) async throws -> UInt {
                    try await secure.send(method, path, headers: headers, version: version).response.status.code
                }
                let own = "https://localhost:\(secure.port)"
                for path in ["/sdk/session", "/components/sessions/x", "/_sim/clock", "/_sim/ping", "/openapi.json"] {
                    #expect(try await status(.GET, path, ["Host": "evil.test"]) == 403, "\(path)")
                    #expect(try await status(.GET, path, ["Host": "localhost:80.evil.test"]) == 403, "\(path)")
                    #expect(try await status(.RAW(value: "PURGE"), path, ["Host": "evil.test"]) == 501, "\(path)")
                }
                #expect(try await status(.POST, "/_sim/reset", ["Origin": own]) == 200)
                #expect(try await status(.POST, "/_sim/reset", ["Origin": "http://localhost:3000"]) == 403)
                #expect(try await status(.POST, "/components/sessions", ["Origin": "null"]) == 403)
                #expect(try await status(.POST, "/components/sessions", ["Sec-Fetch-Site": "cross-site"]) == 403)
                #expect(try await status(.POST, "/components/sessions", [:]) == 400)
                let odd: UInt = version == .automatic ? 501 : 400
                #expect(try await status(.RAW(value: "X$`|'&*"), "/sdk/session", [:]) == odd)
            }
            // The one that passed after the last reset.
            let journal = try await TestWorld(base: secure.server.baseURL).send("GET", "/_sim/requests")
            #expect(journal["requests"].items.map { $0["path"] } == ["/components/sessions"])
            secure.server.stop()
        }
    }

    @Test func headsHaveTheSameLimits() async throws {
        try await Process.withDirectory { directory in
            let secure = try await Secure(directory)
            var many = HTTPHeaders()
            for number in 0..<250 { many.add(name: "x-\(number)", value: "y") }
            let refused = try await secure.send(.GET, "/_sim/health", headers: many)
            let envelope = try WireJSON.decode(JSONValue.self, from: refused.body)
            #expect(refused.response.status == .badRequest && envelope["code"] == "bad_request")
            #expect(envelope["error"].text?.contains("at most 200") == true)
            let large: HTTPHeaders = ["x-large": String(repeating: "a", count: 12_000)]
            #expect(try await secure.send(.GET, "/_sim/health", headers: large).response.status == .ok)
            secure.server.stop()
        }
    }

    /// A phone that wants to trust the server has no control token.
    @Test func theCertificateNeedsNoControlToken() async throws {
        try await Process.withDirectory { directory in
            let secure = try await Secure(directory, ["--control-token", "secret"])
            let root = TestWorld(base: secure.server.baseURL)
            #expect(try await root.send("GET", "/_sim/authority.pem").status == 200)
            #expect(try await root.send("GET", "/_sim/settings").status == 401)
            secure.server.stop()
        }
    }

    /// The command line names the certificate, and not a missing server.
    @Test func theCommandLineNamesAnUntrustedCertificate() async throws {
        try await Process.withDirectory { directory in
            let secure = try await Secure(directory)
            let listed = try await SimProcess.run(
                ["namespace", "list", "--url", "https://localhost:\(secure.port)", "--timeout", "20"])
            #expect(listed.status == 69 && listed.output.contains("is not trusted here"), "\(listed.output)")
            secure.server.stop()
        }
    }

    @Test func plainHTTPOnTheSecurePortIsExplained() async throws {
        try await Process.withDirectory { directory in
            let secure = try await Secure(directory)
            let answer = try await TestWorld(base: "http://127.0.0.1:\(secure.port)").send("GET", "/_sim/health")
            #expect(answer.status == 400 && answer.text.contains("https://"))
            secure.server.stop()
        }
    }

    @Test func theAuthorityIsCreatedOnceAndOnlyItsOwnerCanReadTheKey() async throws {
        try await Process.withDirectory { directory in
            let first = try await Secure(directory)
            let pem = try String(contentsOfFile: first.authority, encoding: .utf8)
            first.server.kill()
            let second = try await Secure(directory)
            #expect(try String(contentsOfFile: second.authority, encoding: .utf8) == pem)
            second.server.stop()
            let key = "\(directory)/authority/authority-key.pem"
            let mode = try FileManager.default.attributesOfItem(atPath: key)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            // A damaged file is named, and nothing is overwritten.
            try Data("damaged".utf8).write(to: URL(fileURLWithPath: key))
            let refused = await #expect(throws: SimProcess.NotStarted.self) { _ = try await Secure(directory) }
            #expect(refused?.status == 1 && refused?.output.contains(key) == true)
            #expect(refused?.output.contains("delete") == true)
        }
    }

    @Test func withoutTheAuthorityAClientRefuses() async throws {
        try await Process.withDirectory { directory in
            let secure = try await Secure(directory)
            await #expect(throws: (any Error).self) {
                try await HTTPClient.shared.execute(
                    HTTPClientRequest(url: "https://localhost:\(secure.port)/_sim/health"), timeout: .seconds(2))
            }
            secure.server.stop()
        }
    }

    /// Silent connections, and connections whose client is done, do not keep the server from stopping.
    @Test func theServerStopsWhileConnectionsAreOpen() async throws {
        try await Process.withDirectory { directory in
            let secure = try await Secure(directory)
            let silent = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .connect(host: "127.0.0.1", port: secure.port).get()
            #expect(try await secure.send(.GET, "/_sim/health").response.status == .ok)
            #expect(secure.server.stop() == 0)
            try await silent.closeFuture.get()
        }
    }

    /// A connection that only negotiates HTTP/2 ends like one that says nothing.
    @Test(.timeLimit(.minutes(15))) func anIdleConnectionIsClosed() async throws {
        try await Process.withDirectory { directory in
            let secure = try await Secure(directory, ["--idle-timeout", "1"])
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .file(secure.authority)
            tls.applicationProtocols = ["h2"]
            let context = try NIOSSLContext(configuration: tls)
            let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(
                            try NIOSSLClientHandler(context: context, serverHostname: "localhost"))
                    }
                }.connect(host: "127.0.0.1", port: secure.port).get()
            // The preface of HTTP/2, and empty settings. On a busy machine the server may have closed the connection already.
            let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0]
            try? await channel.writeAndFlush(ByteBuffer(bytes: preface)).get()
            try await channel.closeFuture.get()
            secure.server.stop()
        }
    }

    @Test func aPortThatIsTakenIsNamed() async throws {
        try await Process.withDirectory { directory in
            let secure = try await Secure(directory)
            let refused = await #expect(throws: SimProcess.NotStarted.self) {
                _ = try await SimProcess(["--in-memory", "--tls-port", "\(secure.port)"])
            }
            #expect(refused?.status == 1)
            #expect(refused?.output.contains("port \(secure.port) is in use") == true)
            #expect(refused?.output.contains("--tls-port") == true)
            for arguments in [
                ["--port", "18643", "--tls-port", "18643"], ["--tls-cert", "a"], ["--tls-port", "70000"],
                ["--tls-cert", "a", "--tls-key", "b"], ["--cors", "localhost"],
            ] {
                let wrong = await #expect(throws: SimProcess.NotStarted.self) {
                    _ = try await SimProcess(["--in-memory"] + arguments)
                }
                #expect(wrong?.status == 64, "\(arguments)")
            }
            secure.server.stop()
        }
    }

    /// A webhook to the HTTPS port would come back for ever, as one to the plain port would.
    /// The receiver is another server, which knows no such route.
    @Test func aReceiversAuthorityIsTrustedByItsFile() async throws {
        try await Process.withDirectory { directory in
            let secure = try await Secure(directory)
            func attempt(_ options: [String], _ environment: [String: String] = [:]) async throws -> JSONValue {
                let server = try await SimProcess(["--in-memory"] + options, environment: environment)
                defer { server.stop() }
                let world = TestWorld(base: server.baseURL)
                _ = try await world.send(
                    "POST", "/_sim/webhooks",
                    [
                        "url": .string("https://localhost:\(secure.port)/hook"), "secret_key": "a-secret",
                        "events": ["session.completed"],
                    ])
                _ = try await world.send("POST", "/_sim/authentications", ["result": "authentic"])
                try await world.settleWebhooks()
                return .array(
                    try await world.webhookDeliveries().flatMap { $0["attempts"].items }.filter { $0["number"] == 1 })
            }
            let trusting = try await attempt(["--webhook-ca", secure.authority])
            #expect(trusting.items.map { $0["status"] } == [404], "\(trusting)")
            let given = try await attempt([], ["SSL_CERT_FILE": secure.authority])
            #expect(given.items.map { $0["status"] } == [404], "\(given)")
            let others = try await attempt(
                ["--webhook-ca", "/etc/ssl/certs/ca-certificates.crt"], ["SSL_CERT_FILE": ""])
            #expect(others.items.someAndAll { $0["error"].text?.contains("an authority that is not trusted") == true })
            let probe = [
                "webhooks", "probe", "https://localhost:\(secure.port)/hook", "--secret", "a-secret", "--json",
            ]
            let trusted = try await SimProcess.run(probe + ["--webhook-ca", secure.authority])
            #expect(trusted.status == 1 && trusted.output.contains(#""status":404"#), "\(trusted.output)")
            let untrusted = try await SimProcess.run(probe)
            #expect(untrusted.status == 1 && untrusted.output.contains("not trusted here"), "\(untrusted.output)")
            secure.server.stop()
            for words in [["serve", "--in-memory", "--port", "0"], Array(probe)] {
                let run = try await SimProcess.run(words + ["--webhook-ca", directory])
                #expect(run.status == 64 && run.output.contains("--webhook-ca: \(directory) has no certificate"))
            }
        }
    }

    @Test func aWebhookToTheSecurePortIsRefused() async throws {
        try await Process.withDirectory { directory in
            let secure = try await Secure(directory)
            let root = TestWorld(base: secure.server.baseURL)
            let answer = try await root.send(
                "POST", "/v1/webhooks",
                ["url": .string("https://localhost:\(secure.port)/_sim/reset"), "version": "1.3"],
                token: TestWorld.apiToken, headers: ["Api-Version": "1.3"])
            #expect(answer.status == 400 && answer["error"].text?.contains("this server itself") == true)
            secure.server.stop()
        }
    }
}
