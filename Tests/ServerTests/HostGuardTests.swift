import HTTPTypes
import Testing

@testable import Server

@Suite struct HostGuardTests {
    private let hosts = HostGuard(allowedHosts: ["sim.example.com"])

    private func isRefused(_ authority: String, method: HTTPRequest.Method = .get, origin: String? = nil) -> Bool {
        var request = HTTPRequest(method: method, scheme: "http", authority: authority, path: "/_sim/clock")
        request.headerFields[.origin] = origin
        return hosts.refusal(request) != nil
    }

    @Test(arguments: [
        "127.0.0.1:8642", "localhost", "localhost:1", "run-7.localhost:8642", "[::1]:8642", "[::ffff:127.0.0.1]", "sim",
        "host.docker.internal:8642", "SIM.example.com", "10.0.0.7", "localhost.",
    ])
    func theseHostsAreAnswered(authority: String) {
        #expect(!isRefused(authority))
    }

    @Test(arguments: [
        "evil.example.com", "localhost.evil.com", "127.0.0.1.evil.com", "sim.example.com.evil.com", "1.2.3.4.5",
        "256.1.1.1", "", ".", "evil.com:127.0.0.1",
    ])
    func theseHostsAreRefused(authority: String) {
        #expect(isRefused(authority))
    }

    @Test func aPageOfAnotherOriginMayReadButNotChange() {
        #expect(!isRefused("localhost:8642", method: .get, origin: "http://evil.com"))
        #expect(isRefused("localhost:8642", method: .post, origin: "http://evil.com"))
        #expect(isRefused("localhost:8642", method: .delete, origin: "null"))
        #expect(isRefused("localhost:8642", method: .post, origin: "http://localhost:9999"))
        #expect(!isRefused("localhost:8642", method: .post, origin: "http://localhost:8642"))
        #expect(!isRefused("localhost:8642", method: .post))
    }
}
