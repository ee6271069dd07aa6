import Foundation
import SimulationAPI
import TestSupport
import Testing

/// The blocks of docs/app.md that lead the vendor's name to the simulator work together, on free ports. The proxy of
/// the page is not run: it is not a program of the tests.
@Suite struct VendorNameTests {
    private static let isPossible = ["openssl", "curl", "bash"].allSatisfy { name in
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
            .contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(name)") }
    }

    /// The shell blocks of the page.
    private static func blocks() throws -> [String] {
        let text = try String(contentsOf: TestWorld.root.appendingPathComponent("docs/app.md"), encoding: .utf8)
        return DocumentBlocks("docs/app.md", text).blocks.filter(\.isShell).map(\.text)
    }

    /// The words of the command `serve` in a block, after the block's other commands.
    private static func options(_ block: String) -> [String] {
        let words = block.split(whereSeparator: \.isWhitespace).map(String.init)
        return Array(words.drop { $0 != "serve" }.dropFirst())
    }

    private func run(_ block: String, in directory: String) async throws -> (status: Int32, output: String) {
        try await SimProcess.run(["-euc", "cd \"$0\"\n" + block, directory], program: "/bin/bash")
    }

    @Test(
        .enabled(if: isPossible, "needs openssl, curl and bash"),
        .enabled(if: SimProcess.hasHTTPS, SimProcess.needsHTTPS))
    func theDocumentedCertificateIsForTheVendorsName() async throws {
        let blocks = try Self.blocks()
        let certificate = try #require(blocks.first { $0.hasPrefix("openssl req -x509") })
        let serve = try #require(blocks.first { $0.hasPrefix("entrupy-sim serve --tls-port 8643") })
        let call = try #require(blocks.first { $0.hasPrefix("curl --cacert my-ca.pem") })
        try await Process.withDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            let made = try await run(certificate, in: directory)
            try #require(made.status == 0 && made.output.contains("vendor.pem: OK"), "\(made.output)")
            // The paths of the block are relative to its folder.
            let options = Self.options(serve).map { word in
                word == "8643" ? "0" : word.hasSuffix(".pem") ? "\(directory)/\(word)" : word
            }
            let server = try await SimProcess(["--in-memory", "--ready-json"] + options)
            let ready = try WireJSON.decode(JSONValue.self, from: Data(server.greeting.utf8))
            let port = try #require(ready["tls_url"].text?.split(separator: ":").last.map(String.init))
            let shown = call.replacing("8643", with: port)
            let answer = try await run(shown, in: directory)
            #expect(answer.status == 0 && answer.output.contains(#"{"status":"ok"}"#), "\(answer.output)")
            let distrusted = try await run(shown.replacing("--cacert my-ca.pem", with: ""), in: directory)
            #expect(distrusted.status == 60, "nobody else trusts the certificate: \(distrusted.output)")
            // Pictures and certificates are at the address of --public-url.
            let world = try await TestWorld.make(in: server)
            let session = try await world.login()
            let item = try await world.submit(
                session, item: TestWorld.nike.merging(["customer_item_id": "sim-authentic-after-0s"]))
            let result = try await world.result(item, session)
            for address in [result["more_details.certificate.site"], result["images.item_photo"]] {
                #expect(address.text?.hasPrefix("https://api.entrupy.com:8643/") == true, "\(result)")
            }
            server.stop()
        }
    }

    /// A proxy that keeps the request's `Host`.
    @Test func theNameNeedsAnOption() async throws {
        for (options, status) in [
            ([], 403), (["--allowed-hosts", "api.entrupy.com"], 200),
            (["--public-url", "https://api.entrupy.com"], 200),
        ] {
            let server = try await SimProcess(["--in-memory"] + options)
            let answer = try await TestWorld(base: server.baseURL).send(
                "GET", "/_sim/health", headers: ["Host": "api.entrupy.com"])
            #expect(
                answer.status == status && (status == 200 || answer.text.contains("--allowed-hosts api.entrupy.com")))
            server.stop()
        }
    }
}
