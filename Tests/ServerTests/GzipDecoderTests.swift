import Foundation
import HTTPTypes
import NIOCore
import Simulation
import SimulationAPI
import TestSupport
import Testing

@testable import Server

@Suite struct GzipDecoderTests {
    private func decode(_ bytes: Data, upTo limit: Int = 1_000_000) throws -> Data {
        Data(try GzipDecoder.decode(ByteBuffer(bytes: bytes), upTo: limit).readableBytesView)
    }

    private func problem(_ bytes: Data, upTo limit: Int = 1_000_000) -> String? {
        do {
            _ = try decode(bytes, upTo: limit)
            return nil
        } catch GzipDecoder.Problem.tooLarge {
            return "too large"
        } catch GzipDecoder.Problem.damaged(let text) {
            return text
        } catch {
            return "\(error)"
        }
    }

    private static let text = Data("{\"a\": \"é\"}".utf8)

    @Test(arguments: [0, 1, 100, 16_384, 100_000, 999_999, 1_000_000])
    func encodedDataIsDecodedUnchanged(length: Int) throws {
        let plain = Data((0..<length).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 7) })
        #expect(try decode(plain.compressed()) == plain)
        #expect(problem(try plain.compressed(), upTo: length) == nil)
        if length > 0 { #expect(problem(try plain.compressed(), upTo: length - 1) == "too large") }
    }

    @Test func everyPrefixIsReportedAsTruncated() throws {
        let whole = try Self.text.compressed()
        for length in 1..<whole.count {
            #expect(problem(whole.prefix(length)) != nil, "\(length) of \(whole.count)")
        }
        #expect(problem(whole.prefix(whole.count - 1)) == "ends before its gzip data is complete")
    }

    @Test func everyChangedByteIsDetected() throws {
        let whole = try Self.text.compressed()
        // The text flag, the time and the operating system in the header do not affect the content.
        for index in whole.indices where !(3..<10).contains(index) {
            var damaged = whole
            damaged[index] ^= 0x01
            let read = try? decode(damaged)
            #expect(read == nil, "byte \(index) of \(whole.count)")
        }
    }

    @Test func bytesAfterTheEndAreRefused() throws {
        let whole = try Self.text.compressed()
        for rest in [Data([0]), Data("x".utf8), whole] {
            #expect(problem(whole + rest)?.contains("continues after the end") == true)
        }
        // The extra bytes may also arrive in a separate piece.
        let long = try Data((0..<16_384 * 3).map { _ in UInt8.random(in: 0...255) }).compressed()
        #expect(problem(long + Data(count: 16_384))?.contains("continues after the end") == true)
    }

    @Test func dataThatIsNotGzipIsRefused() throws {
        #expect(problem(try Self.text.compressed(.deflate)) == "is not gzip")
        for text in ["{}", "\u{1f}", "\u{1f}x", "PK\u{3}\u{4}"] { #expect(problem(Data(text.utf8)) != nil) }
    }

    @Test func theCostOfABombIsLimitedByTheAllowedOutput() throws {
        let bomb = try Data(count: 50_000_000).compressed()
        #expect(bomb.count < 60_000)
        #expect(problem(bomb) == "too large")
        Growth.isLinear("a bomb", from: 1_000_000) { _ in
            bomb
        } _: {
            _ = try GzipDecoder.decode(ByteBuffer(bytes: $0), upTo: 100_000)
        }
        for kind in [Data.init(count:), { Data((0..<$0).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 3) }) }] {
            Growth.isLinear("gzip", from: 50_000) {
                try! kind($0).compressed()
            } _: {
                _ = try decode($0)
            }
        }
        // A file name in the gzip header, of any length.
        Growth.isLinear("a long name", from: 50_000) { length in
            Data([0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 3]) + Data(repeating: 0x61, count: length) + Data([0])
                + (try! Self.text.compressed().dropFirst(10))
        } _: {
            _ = try decode($0)
        }
        let named = Data([0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 3]) + Data("name\0".utf8)
        #expect(try decode(named + Self.text.compressed().dropFirst(10)) == Self.text)
    }

    /// Runs `body` with a file of these bytes, which is removed afterwards.
    private func withFile(_ bytes: Data, _ body: (String) throws -> Void) throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("gzip-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try bytes.write(to: URL(fileURLWithPath: path))
        try body(path)
    }

    private func file(_ path: String, upTo limit: Int) throws -> GzipFile {
        try GzipFile(#require(FileHandle(forReadingAtPath: path)), upTo: limit)
    }

    private func whole(_ file: GzipFile, by count: Int) throws -> Data {
        var whole = Data()
        while case let bytes = try file.read(upTo: count), !bytes.isEmpty { whole += bytes }
        return whole
    }

    @Test(arguments: [1, 512, 65_536, 1_000_000]) func aFileIsDecodedInPieces(count: Int) throws {
        let plain = Data((0..<150_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 9) })
        let encoded = try plain.compressed()
        try withFile(encoded) { path in
            let read = try whole(file(path, upTo: 150_000), by: count)
            #expect(read == plain)
            let problem = #expect(throws: PlatformError.self) { try whole(file(path, upTo: 149_999), by: count) }
            #expect(problem?.kind == .bodyTooLarge)
        }
        for broken in [encoded.dropLast(), encoded + Data([0]), encoded + encoded, encoded + Data(count: 200_000)] {
            try withFile(broken) { path in
                let problem = #expect(throws: PlatformError.self) { try whole(file(path, upTo: 1 << 20), by: count) }
                #expect(problem?.kind == .invalid)
            }
        }
    }

    @Test func aFileIsDecodedOnlyAsFarAsItIsRead() throws {
        let encoded = try Data((0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 9) }).compressed()
        try withFile(encoded.prefix(encoded.count / 2)) { path in
            let file = try file(path, upTo: 100_000)
            let beginning = try file.read(upTo: 512)
            #expect(beginning.count == 512, "neither its missing end nor its size matters yet")
        }
    }

    @Test(arguments: [
        (["gzip"], ContentCoding.gzip), (["GZIP"], .gzip), (["x-gzip"], .gzip), ([" Gzip "], .gzip),
        (["identity"], .identity),
        (["identity, gzip"], .gzip), (["gzip,identity"], .gzip), (["identity", "gzip"], .gzip), ([""], .identity),
        ([","], .identity), (["gzip, gzip"], nil), (["gzip", "gzip"], nil), (["br"], nil), (["deflate"], nil),
        (["gzip, br"], nil), (["gzip;q=1"], nil), (["zstd"], nil), (["*"], nil),
    ])
    func codingsAreRead(values: [String], coding: ContentCoding?) {
        var fields = HTTPFields()
        for value in values { fields.append(.init(name: .contentEncoding, value: value)) }
        #expect(HeaderReader(fields).contentCoding == coding)
    }
}

@Suite struct NearestNameTests {
    private static let routes = NearestRoute([
        (["sdk", "captures"], "GET"), (["sdk", "captures"], "POST"), (["sdk", "captures", "{id}", "submit"], "POST"),
        (["v2", "authentications", "{id}"], "GET"), (["sdk", "login"], "POST"), (["_sim", "clock"], "GET"),
        (["_sim", "users", "{name}"], "PATCH"), (["sdk", "config"], "GET"),
        (["sdk", "results", "{entrupy_id}"], "GET"), (["sdk", "captures", "{id}"], "GET"),
    ])

    @Test(arguments: [
        ("sdk/capture", "POST", "POST /sdk/captures"), ("sdk/capture", "DELETE", "GET, POST /sdk/captures"),
        ("api/sdk/captures", "POST", "POST /sdk/captures"), ("captures", "POST", "POST /sdk/captures"),
        ("sdk/captures/x/sumbit", "POST", "POST /sdk/captures/{id}/submit"), ("sdk/Login", "POST", "POST /sdk/login"),
        ("v2/authentication/x", "GET", "GET /v2/authentications/{id}"), ("_sim/clocks", "GET", "GET /_sim/clock"),
        ("_sim/user/x", "PATCH", "PATCH /_sim/users/{name}"), ("sdk/configuration", "GET", "GET /sdk/config"),
        ("authentications/x", "GET", "GET /v2/authentications/{id}"),
        ("sdk/result/x", "GET", "GET /sdk/results/{entrupy_id}"),
    ])
    func theNearestRouteIsFound(path: String, method: String, route: String) {
        #expect(Self.routes.nearest(to: path.split(separator: "/").map(String.init), method) == route)
    }

    @Test(arguments: [
        "", "favicon.ico", "a/b/c/d/e/f/g/h/i/j/k/l/m", "sdk/upload", "v2/subscriptions", "v2/token", "token/v2",
    ])
    func aPathUnlikeEveryRouteHasNoNearest(path: String) {
        #expect(Self.routes.nearest(to: path.split(separator: "/").map(String.init), "GET") == nil)
    }

    @Test func theNearestNameIsFound() {
        let names = ["default", "pr-12", "pr-13", "checkout"]
        #expect(NearestName.nearest(to: "chekout", among: names) == "checkout")
        #expect(NearestName.nearest(to: "pr-1", among: names) == "pr-12")
        #expect(NearestName.nearest(to: "Default", among: names) == "default")
        #expect(NearestName.nearest(to: "something", among: names) == nil)
        // Two letters that are swapped are one slip.
        #expect(NearestName.distance("macth", "match") == 1 && NearestName.distance("cuont", "count") == 1)
        #expect(NearestName.distance("ab", "ba") == 1 && NearestName.distance("abc", "bca") == 2)
    }

    @Test(arguments: Hostile.allCases) func nearestNamesAreFoundInLinearTime(hostile: Hostile) {
        let names = (0..<500).map { "namespace-\($0)" }
        Growth.isLinear("\(hostile)", hostile.text) { text in
            _ = NearestName.nearest(to: text, among: names)
            _ = Self.routes.nearest(to: text.split(at: "/", maxSplits: 20).map(String.init), "GET")
        }
    }
}
