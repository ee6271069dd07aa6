import Foundation
import NIOCore
import NIOPosix
import SimulationAPI
import TestSupport
import Testing

/// Whether this machine has an address: some have no IPv6.
func hasAddress(_ address: String) -> Bool {
    let devices = (try? System.enumerateDevices()) ?? []
    return devices.contains { $0.address?.ipAddress == address }
}

/// The addresses that a server listens on [D listening].
@Suite struct ListeningTests {
    private static let request = "GET /_sim/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"

    /// Whether a server answers at an address.
    private func answers(_ server: SimProcess, at address: String) async -> Bool {
        let answer = try? await RawConnection.open(server, at: address).exchange(Self.request)
        return answer?.hasPrefix("HTTP/1.1 200 OK") == true
    }

    /// Listens as another program would.
    private func listen(at address: String, port: Int) async throws -> any Channel {
        try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .bind(host: address, port: port).get()
    }

    @Test(arguments: [[], ["--host", "localhost"]])
    func bothLoopbackAddressesAnswerWithoutAHost(options: [String]) async throws {
        let port = try HeldPort()
        defer { port.release() }
        let server = try await SimProcess(["--in-memory"] + port.options + options)
        defer { server.stop() }
        #expect(server.baseURL.hasPrefix("http://127.0.0.1:"))
        #expect(await answers(server, at: "127.0.0.1"))
        #expect(await answers(server, at: "::1") == hasAddress("::1"))
        // The address of a link follows the request.
        guard hasAddress("::1") else { return }
        let base = "http://[::1]:\(port.number)"
        let info = try await TestWorld(base: base).send("GET", "/_sim/info")
        #expect(info["url"].text == base)
    }

    @Test(arguments: ["127.0.0.1", "::1"]) func aHostIsTheOnlyAddress(host: String) async throws {
        guard hasAddress("::1") else { return }
        let port = try HeldPort()
        defer { port.release() }
        let server = try await SimProcess(["--in-memory", "--host", host] + port.options)
        defer { server.stop() }
        for address in ["127.0.0.1", "::1"] { #expect(await answers(server, at: address) == (address == host)) }
    }

    @Test func doctorSaysWhichAddressesAnswer() async throws {
        guard hasAddress("::1") else { return }
        let cases = [
            ([], "ok     addresses: 127.0.0.1 and ::1 answer"),
            (["--host", "127.0.0.1"], "note   addresses: 127.0.0.1 answers, ::1 does not"),
            (["--host", "::1"], "note   addresses: ::1 answers, 127.0.0.1 does not"),
        ]
        for (options, text) in cases {
            let port = try HeldPort()
            defer { port.release() }
            let server = try await SimProcess(["--in-memory"] + port.options + options)
            let run = try await SimProcess.run(["doctor", "--url", server.baseURL])
            #expect(run.status == 0 && run.output.contains(text), "\(run.output)")
            server.stop()
            let gone = try await SimProcess.run(["doctor", "--url", server.baseURL])
            #expect(gone.status == 69 && gone.output.contains("neither 127.0.0.1 nor ::1 answers"), "\(gone.output)")
        }
    }

    /// `localhost` would lead some clients to that program.
    @Test func aChosenPortOfAnotherProgramOnEitherAddressIsRefused() async throws {
        for address in ["127.0.0.1", "::1"] where hasAddress(address) {
            let port = try HeldPort()
            defer { port.release() }
            let other = try await listen(at: address, port: port.number)
            let run = try await SimProcess.run(["serve", "--in-memory"] + port.options)
            let text = "error: port \(port.number)\(address == "::1" ? " of ::1" : "") is in use\n  stop the program"
            #expect(run.status == 1 && run.output.hasPrefix(text), "\(run.output)")
            try await other.close()
        }
    }

    @Test func aSimulatorThatHasThePortIsNamed() async throws {
        let port = try HeldPort()
        defer { port.release() }
        let server = try await SimProcess(["--in-memory"] + port.options)
        defer { server.stop() }
        let run = try await SimProcess.run(["serve", "--in-memory"] + port.options)
        #expect(run.status == 1 && run.output.contains("\n  entrupy-sim 0."), "\(run.output)")
        #expect(run.output.contains("in memory: use it, stop it, or pick another port with --port"), "\(run.output)")
    }

    @Test func aWebhookDoesNotGoToTheServersOtherAddress() async throws {
        guard hasAddress("::1") else { return }
        let server = try await SimProcess(["--in-memory"])
        defer { server.stop() }
        let port = try #require(server.baseURL.split(separator: ":").last)
        let answer = try await TestWorld(base: server.baseURL).send(
            "POST", "/_sim/webhooks", ["url": .string("http://[::1]:\(port)/_sim/reset"), "secret_key": "a-secret"])
        #expect(answer.status == 400 && answer.text.contains("leads to this server itself"), "\(answer.json)")
    }
}
