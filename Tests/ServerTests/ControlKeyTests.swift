import HTTPTypes
import Testing

@testable import Server

/// The control token of a request [D control-token].
@Suite struct ControlKeyTests {
    private func isRefused(_ token: String?, by key: ControlKey, _ path: String = "/_sim/clock") throws -> Bool {
        let name = try #require(HTTPField.Name("X-Sim-Control-Token"))
        var fields = HTTPFields()
        fields[name] = token
        let request = HTTPRequest(
            method: .get, scheme: "http", authority: "localhost", path: path, headerFields: fields)
        return key.refusal(request, path) != nil
    }

    @Test func aTokenIsComparedWhole() throws {
        let key = ControlKey(token: "s3cret")
        #expect(try !isRefused("s3cret", by: key))
        for other in ["s3cre", "s3crett", "S3cret", "s", "", "terc3s", nil] {
            #expect(try isRefused(other, by: key), "\(other ?? "none")")
        }
    }

    @Test func withoutATokenOrOnAnOpenPathNoneIsAskedFor() throws {
        #expect(try !isRefused(nil, by: ControlKey(token: nil)))
        for path in ["/_sim/health", "/_sim/ready"] {
            #expect(try !isRefused(nil, by: ControlKey(token: "s3cret"), path))
        }
        #expect(try isRefused(nil, by: ControlKey(token: "s3cret"), "/_sim/healthy"))
    }
}
