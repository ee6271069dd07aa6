import Foundation
import SimulationAPI
import TestSupport
import Testing

/// `entrupy-sim sweep --before --after`: kept bugs with two commands.
@Suite struct SweepReceiptTests {
    private static let call = "POST /v2/integrations/authorize-user #1"
    /// Registers a user. `curl` alone takes no notice of a refusal, with `-f` it fails.
    private static func client(_ options: String) -> String {
        """
        curl -s \(options) -o /dev/null -H "Authorization: Token $ENTRUPY_SIM_API_TOKEN" -H 'Content-Type: application/json' \
        -d '{"sdk_authorization_request":"x","unique_user_id":"seller-1","email":"seller-1@example.com"}' \
        "$ENTRUPY_SIM_URL/v2/integrations/authorize-user"
        """
    }
    private static let (wrong, right) = (client(""), client("-f"))

    /// Keeps the bug of the client, and runs `body` with the folder.
    private func withBug(_ body: (_ kept: String, _ directory: String) async throws -> Void) async throws {
        try await Process.withDirectory { directory in
            let kept = directory + "/kept"
            let found = try await RunningProgram(
                ["sweep", "--out", kept, "--faults", "503", "--", "sh", "-c", Self.wrong]
            ).finish()
            #expect(found.status == 1, "\(found.text)\(found.errors)")
            try await body(kept, directory)
        }
    }

    private func proof(_ kept: String, _ before: String, _ after: String, _ options: String...) async throws
        -> RunningProgram.Finished
    {
        try await RunningProgram(["sweep", "--kept", kept, "--before", before, "--after", after] + options).finish()
    }

    @Test func aMendIsProvedByTheBugBeforeAndARightEndAfter() async throws {
        try await withBug { kept, directory in
            let (junit, summary) = (directory + "/p.xml", directory + "/p.md")
            let mended = try await proof(kept, Self.wrong, Self.right, "--junit", junit, "--summary", summary)
            #expect(mended.status == 0, "\(mended.text)\(mended.errors)")
            #expect(
                mended.text.contains("\(Self.call) 503  silent (3 of 3)  gave up (3 of 3)  mended"), "\(mended.text)")
            #expect(
                mended.text.contains("before: with \(Self.call) answered 503, the client exits 0 and leaves no user"))
            #expect(mended.text.hasSuffix("\n1 kept: 1 mended\n") && mended.errors.contains("--before curl -s"))
            #expect(try String(contentsOfFile: junit, encoding: .utf8).contains("tests=\"1\" failures=\"0\""))
            let text = try String(contentsOfFile: summary, encoding: .utf8)
            #expect(text.contains("| silent (3 of 3) | gave up (3 of 3) | mended |") && text.contains("- before: curl"))
        }
    }

    @Test func aBugThatIsStillThereOrWasNeverThereIsNoProof() async throws {
        try await withBug { kept, directory in
            let junit = directory + "/p.xml"
            let still = try await proof(kept, Self.wrong, Self.wrong, "--json", "--junit", junit)
            #expect(still.status == 1, "\(still.errors)")
            let receipt = try WireJSON.decode(JSONValue.self, from: still.output)
            #expect(receipt["before"] == .string(Self.wrong) && receipt["after"] == .string(Self.wrong))
            let entry = try #require(receipt["kept"].items.first)
            #expect(entry["result"] == "still there" && entry["fault"] == "503" && entry["call"] == .string(Self.call))
            #expect(entry["after"]["verdict"] == "silent" && entry["after"]["seen"] == "3 of 3")
            #expect(
                try String(contentsOfFile: junit, encoding: .utf8).contains("<failure message=\"still there: with POST")
            )
            let never = try await proof(kept, Self.right, Self.right, "--junit", junit)
            #expect(never.status == 2 && never.text.contains("1 kept: 1 not seen before"), "\(never.errors)")
            #expect(
                try String(contentsOfFile: junit, encoding: .utf8).contains("<skipped message=\"not seen before\"/>"))
        }
    }

    @Test func aCommandThatFailsWithoutAFaultIsNamed() async throws {
        try await withBug { kept, _ in
            let failing = try await proof(kept, Self.wrong, "\(Self.right); echo a reason; exit 4")
            #expect(failing.status == 3 && failing.output.isEmpty, "\(failing.text)")
            #expect(
                failing.errors.contains(
                    "  a reason\nerror: the command of --after fails without a fault: it exited with 4"))
            // A client that makes other calls does not meet the fault.
            let other = try await proof(kept, Self.wrong, "curl -s -o /dev/null $ENTRUPY_SIM_URL/sdk/session")
            #expect(other.status == 2 && other.text.contains("not met (3 of 3)  incomplete"), "\(other.text)")
        }
    }
}
