import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Files of earlier releases open, and answer as they did then. `Tests/Fixtures/make.py` made them with that release's binary.
@Suite struct EarlierReleaseTests {
    private static let releases = ["0.1"]
    private static let publicURL = "http://simulator.example"

    private struct Readings: Decodable {
        let session: String
        let requests: [Reading]
    }

    /// A request that changes nothing, and the answer of the release.
    private struct Reading: Decodable {
        let method: String
        let path: String
        let token: String?
        let status: Int
        let body: String
    }

    private static func fixture(_ release: String, _ name: String) -> URL {
        TestWorld.root.appendingPathComponent("Tests/Fixtures/\(release)/\(name)")
    }

    private static func unpacked(_ release: String, _ name: String, in directory: String) async throws -> String {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let archive = fixture(release, name + ".gz").path
        // A data directory is an archive of files; the others are archives that the program itself reads.
        let command =
            name == "data.tar"
            ? "tar -xzf '\(archive)' -C '\(directory)'" : "gunzip -c '\(archive)' > '\(directory)/\(name)'"
        let run = try await SimProcess.run(["-c", command], program: "/bin/sh")
        try #require(run.status == 0, "\(run.output)")
        return name == "data.tar" ? directory : "\(directory)/\(name)"
    }

    /// Sends the readings and compares. Texts of errors may be worded better in a later release.
    ///
    /// - Parameter namespace: the part of the path that names the namespace; addresses in answers differ by it.
    private func compare(_ release: String, _ server: SimProcess, namespace: String) async throws {
        let readings = try JSONDecoder().decode(
            Readings.self, from: Data(contentsOf: Self.fixture(release, "requests.json")))
        try #require(readings.requests.count > 30)
        for reading in readings.requests {
            let body = reading.method == "POST" ? Self.searchBody(reading.path) : nil
            let answer = try await TestWorld(base: server.baseURL + namespace).send(
                reading.method, reading.path, body, token: reading.token)
            let name = "\(reading.method) \(reading.path)"
            #expect(answer.status == reading.status, "\(name): \(answer.json)")
            // Bodies of webhooks keep the addresses that they were made with.
            let before = reading.body.replacingOccurrences(of: Self.publicURL + "/ns/fixture", with: Self.publicURL)
            let now = String(decoding: answer.body, as: UTF8.self)
                .replacingOccurrences(of: Self.publicURL + "/ns/fixture", with: Self.publicURL)
                .replacingOccurrences(of: Self.publicURL + namespace, with: Self.publicURL)
            guard !before.isEmpty, let value = try? WireJSON.decode(JSONValue.self, from: Data(before.utf8)) else {
                #expect(now == before, "\(name)")
                continue
            }
            let differences = try Self.differences(
                Self.stable(value), Self.stable(WireJSON.decode(JSONValue.self, from: Data(now.utf8))))
            #expect(differences.isEmpty, "\(name)")
        }
    }

    /// Members whose values later releases changed, as docs/upgrading.md says, by their path without indices.
    private static let changed = Set(
        ["webhooks.version", "product_categories.required_fields", "webhooks.created_at", "created_at"]
            + ["item", "items", "v2"].flatMap { item in
                [
                    "properties.brand", "properties.category", "timestamp.created_at", "timestamp.last_updated_at",
                    "status.initial_result.final", "status.eta.display",
                ].map { "\(item).\($0)" }
            })

    /// The paths at which an answer lacks or changes what it had. Later releases may add members.
    private static func differences(_ before: JSONValue, _ now: JSONValue, at path: String = "") -> [String] {
        switch (before, now) {
        case (.object(let before), .object(let now)):
            before.sorted.flatMap { name, value in
                let path = path.isEmpty ? name : "\(path).\(name)"
                return now[name].map { differences(value, $0, at: path) } ?? ["\(path) is gone"]
            }
        case (.array(let before), .array(let now)) where before.count == now.count:
            zip(before, now).flatMap { differences($0, $1, at: path) }
        default: before == now || changed.contains(path) ? [] : ["\(path) was \(before), is \(now)"]
        }
    }

    private static func searchBody(_ path: String) -> JSONValue {
        path.hasPrefix("/sdk") ? ["pagination_limit": 10] : ["limit": 25]
    }

    /// An answer without what differs from run to run: how long an attempt took, cursors sealed for one namespace, request ids.
    private static func stable(_ value: JSONValue) -> JSONValue {
        switch value {
        case .object(var members):
            for name in ["duration_ms", "next_cursor", "request_id"] where members[name] != nil {
                members[name] = .string("…")
            }
            for (name, member) in members.sorted { members[name] = stable(member) }
            return .object(members)
        case .array(let elements): return .array(elements.map(stable))
        default: return value
        }
    }

    @Test(arguments: releases) func aDatabaseOpensAndAnswersAsBefore(release: String) async throws {
        try await Process.withDirectory { directory in
            let data = try await Self.unpacked(release, "data.tar", in: directory)
            let server = try SimProcess(["--data-dir", data, "--public-url", Self.publicURL, "--rate-limits", "off"])
            try await compare(release, server, namespace: "/ns/fixture")
            let root = TestWorld(base: server.baseURL)
            let run = try await root.send("GET", "/ns/qa/_sim/scenarios/disputed")
            #expect(run.status == 404, "a stored scenario belongs to the namespace it was put into")
            let advanced = try await root.send("POST", "/ns/qa/_sim/clock/advance", ["by": "5h"])
            #expect(advanced.status == 200, "\(advanced.json)")
            let restored = try await root.send("POST", "/ns/fixture/_sim/snapshots/noon/restore")
            #expect(restored.status == 200, "\(restored.json)")
            server.stop()
        }
    }

    @Test(arguments: releases) func aSnapshotIsUploadedAndRestored(release: String) async throws {
        try await Process.withDirectory { directory in
            let file = try await Self.unpacked(release, "snapshot.tar", in: directory)
            let server = try SimProcess(["--in-memory", "--public-url", Self.publicURL])
            let root = TestWorld(base: server.baseURL)
            try #require(try await root.send("PUT", "/_sim/namespaces/copy", .object([:])).status == 201)
            let uploaded = try await root.send(
                "PUT", "/ns/copy/_sim/snapshots/last", bytes: Data(contentsOf: URL(fileURLWithPath: file)),
                headers: ["Content-Type": "application/octet-stream"])
            try #require(uploaded.status == 201, "\(uploaded.json)")
            try #require(try await root.send("POST", "/ns/copy/_sim/snapshots/last/restore").status == 200)
            try await compare(release, server, namespace: "/ns/copy")
            server.stop()
        }
    }

    @Test(arguments: releases) func aBundleOpens(release: String) async throws {
        try await Process.withDirectory { directory in
            let file = try await Self.unpacked(release, "bundle.tar", in: directory)
            let server = try SimProcess(["--bundle", file, "--public-url", Self.publicURL])
            try await compare(release, server, namespace: "")
            server.stop()
        }
    }

    @Test(arguments: releases, ["serial", "parallel"])
    func aRecordingWhoseAnswersHaveChangedIsRefusedWithTheReleaseThatReplaysIt(release: String, name: String)
        async throws
    {
        let run = try await SimProcess.run(["replay", Self.fixture(release, "\(name).recording").path])
        #expect(run.status == 64 && run.output.contains("entrupy-sim \(release)."), "\(run.output)")
    }

    @Test(arguments: releases) func aSeedFileOfAUserIsRead(release: String) async throws {
        let world = try await TestWorld.make()
        let loaded = try await world.send(
            "POST", "/_sim/seed", bytes: Data(contentsOf: Self.fixture(release, "seed.yaml")),
            headers: ["Content-Type": "application/yaml"])
        try #require(loaded.status == 200, "\(loaded.json)")
        let export = try await world.send("GET", "/_sim/export")
        // A later release may add lines, such as the texts of a new result. It removes and changes none.
        var left = String(decoding: export.body, as: UTF8.self).split(separator: "\n")[...]
        for line in try String(contentsOf: Self.fixture(release, "export.yaml"), encoding: .utf8).split(separator: "\n")
        {
            let place = try #require(left.firstIndex { $0.utf8.elementsEqual(line.utf8) }, "\(line)")
            left = left[(place + 1)...]
        }
    }
}
