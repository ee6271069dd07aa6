import Testing

@testable import Simulation

@Suite struct WebhookTargetTests {
    @Test(
        arguments: [
            ("127.0.0.1", true), ("127.1", true), ("10.0.0.1", true), ("192.168.0.1", true), ("172.31.0.1", true),
            ("172.32.0.1", false), ("::1", true), ("fd12::1", true), ("fe80::1", false), ("::ffff:10.0.0.1", true),
            ("::ffff:8.8.8.8", false), ("0.0.0.0", false), ("169.254.169.254", false),
            ("::ffff:169.254.169.254", false),
            ("::ffff:a9fe:a9fe", false), ("fd00:ec2::254", false), ("fd00:0ec2:0:0::254", false),
            ("fd00:ec2::23", false),
            ("fd20:ce::254", false), ("fd20:ce::255", true), ("fd00:ec3::254", true), ("2001:4860::1", false),
            ("100.64.0.1", true), ("100.127.255.254", true), ("100.63.0.1", false), ("100.128.0.1", false),
            ("198.18.0.1", true), ("198.19.255.254", true), ("198.17.0.1", false), ("198.20.0.1", false),
            ("0.250.250.254", false), ("169.254.1.2", false),
        ])
    func loopbackAndPrivateAddressesAreLocalAndMetadataIsNot(text: String, isLocal: Bool) throws {
        #expect(try #require(WebhookTarget.Address(text)).isLocal == isLocal)
    }

    @Test(arguments: ["localhost:9000/hooks", "ftp://127.0.0.1/hooks"])
    func aURLWithoutItsSchemeSaysHowItBegins(text: String) {
        #expect(throws: WebhookTarget.Problem.self) { try WebhookTarget.read(text).get() }
        guard case .failure(let problem) = WebhookTarget.read(text) else { return }
        #expect(problem.text == "must begin with http:// or https://, for instance http://127.0.0.1:9000/hooks")
    }

    @Test func aNameIsRefusedIfNoneOfItsAddressesIsAllowed() throws {
        let target = try WebhookTarget.read("http://hooks.example.com/a").get()
        #expect(target.refused(of: ["192.0.2.1", "2001:db8::1"]) == "192.0.2.1")
        #expect(target.refused(of: ["192.0.2.1", "10.0.0.1"]) == nil && target.refused(of: []) == nil)
    }

    @Test(
        arguments: [
            ("0.250.250.254", true), ("169.254.1.2", true), ("fe80::1", true), ("192.168.65.254", true),
            ("fc00::1", true),
            ("169.254.169.254", false), ("::ffff:169.254.169.254", false), ("169.254.170.2", false),
            ("fd00:ec2::254", false),
            ("8.8.8.8", false), ("2001:4860::1", false), ("1.0.0.1", false),
        ])
    func theMachineOfAnEngineMayHaveAddressesThatLeadNowhereElse(text: String, isLocal: Bool) throws {
        let names = ["docker", "containers", "orb", "lima", "minikube"].map { "host.\($0).internal" }
        for name in names + ["gateway.docker.internal", "Host.Docker.Internal."] {
            let target = try WebhookTarget.read("http://\(name):9000/hooks").get()
            #expect(target.allows(text) == isLocal, "\(name)")
        }
        let address = try #require(WebhookTarget.Address(text))
        for name in [
            "docker.internal", "my.host.docker.internal", "host.docker.internal.example.com", "metadata.internal",
        ] {
            #expect(address.isLocal(as: name) == address.isLocal)
        }
    }

    private let own = ServerAddress(
        port: 8642, addresses: ["192.168.7.7", "fd12::7"], publicURL: "https://sim.test/simulator")

    @Test(
        arguments: [
            "http://127.0.0.1:8642/x", "http://127.0.0.1:8642", "http://127.1:8642/", "http://2130706433:8642/",
            "http://0x7f000001:8642/", "http://0177.0.0.1:8642/", "http://127.0.0.1.:8642/", "http://127.8.9.10:8642/",
            "http://[::1]:8642/", "http://[0:0:0:0:0:0:0:1]:8642/", "http://[::ffff:127.0.0.1]:8642/",
            "http://[::ffff:7f00:1]:8642/", "http://[::]:8642/", "http://0.0.0.0:8642/", "http://0:8642/",
            "http://192.168.7.7:8642/", "http://3232237319:8642/", "http://[::ffff:192.168.7.7]:8642/",
            "http://[fd12::7]:8642/", "http://[fd12:0::0:7]:8642/", "http://localhost:8642/", "http://LocalHost:8642/",
            "http://localhost.:8642/", "http://run-7.localhost:8642/", "https://localhost:8642/",
            "https://sim.test/simulator", "https://sim.test/simulator/_sim/reset", "https://SIM.test:443/simulator?x",
        ])
    func theseURLsNameTheServer(url: String) throws {
        #expect(own.isNamed(by: try WebhookTarget.read(url).get()), "\(url)")
    }

    @Test(arguments: [
        "http://127.0.0.1:8643/", "http://127.0.0.1/", "http://localhost:9000/", "http://192.168.7.8:8642/",
        "http://notlocalhost:8642/", "http://localhost.test:8642/", "http://sim.test/simulator", "https://sim.test/",
        "https://sim.test/simulator-2", "https://sim.test:444/simulator", "http://[fd12::8]:8642/",
    ])
    func otherURLsDoNotNameTheServer(url: String) throws {
        #expect(!own.isNamed(by: try WebhookTarget.read(url).get()), "\(url)")
    }

    @Test func aRecordingWithoutAnAddressUsesItsPublicURL() throws {
        let old = ServerAddress(publicURL: "http://127.0.0.1:8642")
        #expect(old.isNamed(by: try WebhookTarget.read("http://localhost:8642/").get()))
        #expect(!old.isNamed(by: try WebhookTarget.read("http://localhost:8643/").get()))
    }
}
