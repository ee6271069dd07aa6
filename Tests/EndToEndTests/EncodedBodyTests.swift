import Foundation
import Hashes
import NIOCore
import NIOHTTP1
import Outgoing
import SimulationAPI
import TestSupport
import Testing

/// Bodies with a `Content-Encoding`.
@Suite struct EncodedBodyTests {
    private static let user: JSONValue = [
        "sdk_authorization_request": "r", "unique_user_id": "encoded-user", "email": "é@example.com",
    ]

    private func authorize(
        _ world: TestWorld, _ bytes: Data, _ coding: String, type: String = "application/json",
        token: String = TestWorld.apiToken
    ) async throws -> Answer {
        try await world.send(
            "POST", "/v2/integrations/authorize-user", bytes: bytes, token: token,
            headers: ["Content-Type": type, "Content-Encoding": coding])
    }

    @Test(arguments: ["gzip", "GZIP", "x-gzip", "identity, gzip", "gzip,identity"])
    func gzipIsDecoded(coding: String) async throws {
        let world = try await TestWorld.make()
        let answer = try await authorize(world, WireJSON.encode(Self.user).compressed(), coding)
        #expect(answer.status == 200 && answer["username"] == "DemoOrg-encoded-user")
        // The journal shows the decoded body.
        let id = try #require(answer.headers.first(name: "X-Request-Id"))
        let entry = try await world.send("GET", "/_sim/requests/\(id)")
        #expect(entry["request.body"].text?.contains("encoded-user") == true)
    }

    @Test func identityIsAccepted() async throws {
        let world = try await TestWorld.make()
        #expect(try await authorize(world, WireJSON.encode(Self.user), "identity").status == 200)
    }

    @Test(arguments: ["br", "deflate", "zstd", "gzip, gzip", "gzip, br", "compress", "\u{e9}"])
    func anUnsupportedCodingIsNamedInTheRefusal(coding: String) async throws {
        let world = try await TestWorld.make()
        let answer = try await authorize(world, WireJSON.encode(Self.user).compressed(), coding)
        #expect(answer.status == 415 && answer["code"] == "unsupported_media_type")
        #expect(answer["details.0.field"] == "Content-Encoding")
        #expect(answer["error"].text?.contains("\"\(coding)\"") == true, "\(answer.json)")
        #expect(answer.headers["Accept-Encoding"] == ["gzip, identity"])
    }

    @Test func aDamagedBodyIsRefused() async throws {
        let world = try await TestWorld.make()
        let good = try WireJSON.encode(Self.user).compressed()
        let damaged = [
            good.dropLast(), good.prefix(10), good + Data([0]), good + good, try WireJSON.encode(Self.user),
            try WireJSON.encode(Self.user).compressed(.deflate), good.prefix(good.count / 2) + Data(count: 20),
        ]
        for bytes in damaged {
            let answer = try await authorize(world, Data(bytes), "gzip")
            #expect(answer.status == 400 && answer["code"] == "bad_request", "\(answer.json)")
            #expect(answer["details.0.field"] == "body")
        }
        #expect(try await authorize(world, Data(damaged[0]), "gzip", token: "nope").status == 401)
        #expect(try await authorize(world, Data(damaged[0]), "gzip", type: "text/csv").status == 415)
    }

    @Test func anEmptyBodyStaysEmptyWithGzip() async throws {
        let world = try await TestWorld.make()
        let session = try await world.login()
        for bytes in [Data(), try Data().compressed()] {
            let headers = ["Content-Encoding": "gzip"]
            #expect(
                try await world.send("POST", "/sdk/search", bytes: bytes, token: session, headers: headers).status
                    == 200)
            let answer = try await world.send("POST", "/sdk/login", bytes: bytes, headers: headers)
            #expect(answer.status == 400 && answer["error"].text?.contains("is empty") == true)
        }
    }

    @Test func theDecodedSizeIsLimited() async throws {
        let world = try await TestWorld.make()
        func body(_ length: Int, _ filler: (Int) -> Data = { Data(repeating: 0x61, count: $0) }) throws -> Data {
            let frame = try WireJSON.encode(Self.user).dropLast() + Data(",\"x\":\"\"}".utf8)
            return frame.dropLast(2) + filler(length - frame.count) + frame.suffix(2)
        }
        var generator = SystemRandomNumberGenerator()
        let items = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        let random = { (count: Int) in Data((0..<count).map { _ in items.randomElement(using: &generator)! }) }
        #expect(try await authorize(world, body(1_000_000, random).compressed(), "gzip").status == 200)
        #expect(try await authorize(world, body(1_000_000).compressed(), "gzip").status == 200)
        for length in [1_000_001, 50_000_000] {
            let answer = try await authorize(world, body(length).compressed(), "gzip")
            #expect(answer.status == 413 && answer["details.0.problem"] == "must be at most 1000000 bytes")
        }
        #expect(try await authorize(world, Data(count: 1_100_000), "gzip").status == 413)
    }

    @Test func aDigestIsOfTheBytesAsTheyWereSent() async throws {
        let world = try await TestWorld.make()
        let session = try await world.login()
        let capture = try await world.startCapture(session)
        let (plain, sent) = (TestWorld.picture, try TestWorld.picture.compressed())
        func upload(_ digest: Data) async throws -> Answer {
            try await world.send(
                "PUT", "/sdk/captures/\(capture.id)/images/\(capture.regions[0])", bytes: sent, token: session,
                headers: [
                    "Content-Encoding": "gzip", "Content-Type": "image/jpeg",
                    "Content-Digest": "sha-256=:\(digest.base64EncodedString()):",
                ])
        }
        let good = try await upload(Data(SHA256.hash(data: sent)))
        #expect(good.status == 200 && good["bytes"].double == Double(plain.count))
        #expect(good["sha256"].text == SHA256.hash(data: plain).map { String(format: "%02x", $0) }.joined())
        #expect(try await upload(Data(SHA256.hash(data: plain))).status == 422)
        let unknown = try await world.send(
            "PUT", "/sdk/captures/\(capture.id)/images/\(capture.regions[0])", bytes: plain, token: session,
            headers: ["Content-Encoding": "br"])
        #expect(unknown.status == 415)
    }

    @Test func archivesAndYAMLMayBeCompressedToo() async throws {
        let world = try await TestWorld.make()
        #expect(try await world.send("PUT", "/_sim/snapshots/s").status == 201)
        let archive = try await world.send("GET", "/_sim/snapshots/s").body
        func put(_ name: String, _ bytes: Data, _ coding: String) async throws -> Answer {
            try await world.send(
                "PUT", "/_sim/snapshots/\(name)", bytes: bytes,
                headers: ["Content-Type": "application/octet-stream", "Content-Encoding": coding])
        }
        #expect(try await put("t", archive.compressed(), "gzip").status == 201)
        #expect(try await put("u", archive.compressed().dropLast(), "gzip").status == 400)
        #expect(try await put("v", archive, "br").status == 415)
        #expect(try await world.send("POST", "/_sim/snapshots/t/restore").status == 200)
        // Nothing of the rest is decoded, so that its end is missing does not show.
        let zeros = Data(count: 10_000_000)
        let first = try TarFile(archive).entries[0]
        let wrong: [(Data, String)] = [
            (zeros, "has no manifest.json"), (Data(repeating: 0x61, count: 10_000_000), "is not an archive"),
            (TarFile(entries: [.init("world.sqlite", zeros)]).bytes, "must begin with manifest.json"),
            (TarFile(entries: [first, .init("world.sqlite", zeros)]).bytes, "is not an SQLite database"),
            (TarFile(entries: [first, .init("images/x", Data(count: 30_000_000))]).bytes, "is larger than"),
        ]
        for (bytes, problem) in wrong {
            let answer = try await put("w", bytes.compressed().dropLast(20), "gzip")
            #expect(answer.status == 400 && answer["error"].text?.contains(problem) == true, "\(answer.json)")
        }
        #expect(try await put("w", (archive + Data(count: 500_000)).compressed(), "gzip").status == 201)
        let long = try await put("x", (archive + Data(count: 5_000_000)).compressed(), "gzip")
        #expect(long.status == 400 && long["error"].text?.contains("continues after its end") == true, "\(long.json)")
        let seed = "organizations:\n  - {name: Zipped, api_tokens: [zipped-token]}\n"
        let loaded = try await world.send(
            "POST", "/_sim/seed", bytes: Data(seed.utf8).compressed(),
            headers: ["Content-Type": "application/yaml", "Content-Encoding": "gzip"])
        #expect(loaded.status == 200 && loaded["organizations"].double == 1)
    }

    @Test func aRecordingHoldsWhatWasDecoded() async throws {
        try await Process.withDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            let file = directory + "/run.recording"
            let server = try await SimProcess(["--in-memory", "--record", file])
            let world = TestWorld(base: server.baseURL)
            let body = try WireJSON.encode(Self.user)
            #expect(try await authorize(world, body.compressed(), "gzip").status == 200)
            #expect(try await authorize(world, body.compressed().dropLast(), "gzip").status == 400)
            #expect(try await authorize(world, body.compressed(), "br").status == 415)
            let session = try await world.login()
            let capture = try await world.startCapture(session)
            let sent = try TestWorld.picture.compressed()
            for digest in [SHA256.hash(data: sent), SHA256.hash(data: TestWorld.picture)] {
                _ = try await world.send(
                    "PUT", "/sdk/captures/\(capture.id)/images/\(capture.regions[0])", bytes: sent, token: session,
                    headers: [
                        "Content-Encoding": "gzip", "Content-Type": "image/jpeg",
                        "Content-Digest": "sha-256=:\(Data(digest).base64EncodedString()):",
                    ])
            }
            server.stop()
            let text = try String(contentsOfFile: file, encoding: .utf8)
            #expect(text.contains("encoded-user") && text.contains("\"Content-Encoding\",\"br\""))
            let run = try await SimProcess.run(["replay", file, "--json"])
            let report = try? WireJSON.decode(JSONValue.self, from: Data(run.output.utf8))
            #expect(run.status == 0 && report?["difference"] == .null, "\(run.output)")
        }
    }
}

/// Paths and namespaces that do not exist.
@Suite struct UnknownRouteTests {
    @Test(arguments: [
        ("/sdk/capture", "POST /sdk/captures"), ("/api/v2/catalog/brands", "POST /v2/catalog/brands"),
        ("/v2/authentication/x/flag", "POST /v2/authentications/{entrupy_id}/flag"),
        ("/_sim/setings", "GET, PATCH /_sim/settings"), ("/_sim/clock/advanced", "POST /_sim/clock/advance"),
    ])
    func theNearestRouteIsNamed(path: String, route: String) async throws {
        let world = try await TestWorld.make()
        let answer = try await world.send("POST", path, [:])
        #expect(answer.status == 404 && answer["code"] == "unknown_route")
        #expect(answer["sdk_error"] == "ErrorCodeSearchItemNotFound")
        #expect(answer["details.0.field"] == "path" && answer["details"].items.count == 1)
        #expect(answer["details.0.problem"].text?.contains(route) == true, "\(answer.json)")
        #expect(answer["error"].text?.contains(path) == true)
    }

    @Test func aMissingItemIsNotAnUnknownRoute() async throws {
        let world = try await TestWorld.make()
        let answer = try await world.send("GET", "/v2/authentications/XXXXXXXX", token: TestWorld.apiToken)
        #expect(answer.status == 404 && answer["code"] == "not_found")
        #expect(try await world.send("GET", "/_sim/users/nobody")["code"] == "not_found")
    }

    @Test func theNearestNamespaceIsNamedOnlyToAuthorizedCallers() async throws {
        let server = try await SimProcess([
            "--in-memory", "--control-token", "secret", "--cors", "http://localhost:3000",
        ])
        let root = TestWorld(base: server.baseURL, headers: ["X-Sim-Control-Token": "secret"])
        #expect(try await root.send("PUT", "/_sim/namespaces/checkout-tests").status == 201)
        let path = "/ns/chekout-tests/sdk/session"
        let told = try await root.send("GET", path)
        #expect(told.status == 404 && told["code"] == "unknown_namespace")
        #expect(told["sdk_error"] == "ErrorCodeSearchItemNotFound" && told["details.0.field"] == "path")
        #expect(told["details.0.problem"].text?.contains("\"checkout-tests\"") == true, "\(told.json)")
        let stranger = TestWorld(base: server.baseURL)
        let hidden = try await stranger.send("GET", path)
        #expect(hidden.status == 404 && hidden["code"] == "unknown_namespace" && hidden["details.0.field"] == "path")
        #expect(!String(decoding: hidden.body, as: UTF8.self).contains("checkout"), "\(hidden.json)")
        // A page of another origin may not use the control API either.
        let page = TestWorld(
            base: server.baseURL, headers: ["Origin": "http://localhost:3000", "X-Sim-Control-Token": "secret"])
        let posted = try await page.send("POST", "/ns/chekout-tests/sdk/login")
        #expect(posted.status == 404 && !posted.text.contains("checkout-"), "\(posted.json)")
        #expect(try await stranger.send("GET", "/ns/N_S/sdk/session")["code"] == "unknown_namespace")
        let named = try await stranger.send("GET", "/sdk/session", headers: ["X-Sim-Namespace": "nowhere"])
        #expect(named["code"] == "unknown_namespace")
        server.stop()
    }

    @Test func aLargeBodyWithoutALengthIsRefusedToo() async throws {
        let world = try await TestWorld.make()
        var request = try OutgoingRequest(.POST, world.base + "/sdk/captures")
        request.headers.add(name: "Authorization", value: "Token \(try await world.login())")
        let part = ByteBuffer(repeating: UInt8(ascii: " "), count: 100_000)
        let sent = Mutex(0)
        request.body = .parts(length: nil) {
            sent.withLock { count in
                count += 1
                return count <= 50 ? part : nil
            }
        }
        #expect(try await OutgoingClient.patient.whole(request).status == 413)
    }
}
