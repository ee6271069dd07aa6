import Foundation
import Testing

@testable import entrupy_sim

/// What senders may take of `webhooks listen`. Any program of the machine can connect to it, and any page of a browser.
@Suite struct WebhookListenerTests {
    private func open() async throws -> WebhookListener { try await WebhookListener.open(host: "127.0.0.1", port: 0) }

    private func head(_ length: Int, _ fields: String = "") -> String {
        "POST /webhooks HTTP/1.1\r\nHost: a\r\n\(fields)Content-Length: \(length)\r\n\r\n"
    }

    /// Sends a text, and returns the answer's beginning. The server closes the connection after it.
    private func answer(_ listener: WebhookListener, _ text: String) async throws -> String {
        try await RawConnection.open(port: listener.port).exchange(text)
    }

    @Test(arguments: ["Origin: http://evil.example\r\n", "Origin: null\r\n", "Sec-Fetch-Site: cross-site\r\n"])
    func aPageOfABrowserIsRefusedBeforeItsBody(field: String) async throws {
        let listener = try await open()
        let refused = try await answer(listener, head(1000, field))
        #expect(refused.hasPrefix("HTTP/1.1 403 "), "\(refused)")
        #expect(listener.heldBytes == 0)
        await listener.close()
    }

    /// Programs that connect and send nothing, or half a head, do not keep a sender out.
    @Test func aSilentConnectionMakesRoomForANewOne() async throws {
        let listener = try await open()
        let reader = Task { for await request in listener.requests { request.answer(200, "taken\n") } }
        try await withThrowingTaskGroup(of: String.self) { group in
            var silent: [RawConnection] = []
            for _ in 0..<WebhookListener.maxConnections {
                silent.append(try await RawConnection.open(port: listener.port))
            }
            for connection in silent {
                // One that is closed before its text was read is reset.
                group.addTask { (try? await connection.exchange("POST /webhooks HTTP/1.1\r\n")) ?? "" }
            }
            let taken = try await answer(listener, head(2, "Connection: close\r\n") + "{}")
            #expect(taken.hasPrefix("HTTP/1.1 200 ") && taken.hasSuffix("taken\n"), "\(taken)")
            // The oldest was closed, and the others were not.
            #expect(try await group.next() == "")
            group.cancelAll()
            while await group.nextResult() != nil {}
        }
        reader.cancel()
        await listener.close()
    }

    @Test func aBodyIsBounded() async throws {
        let listener = try await open()
        let size = WebhookListener.maxBytes
        let long = try await answer(listener, head(size + 1) + String(repeating: "x", count: size + 1))
        #expect(long.hasPrefix("HTTP/1.1 413 "), "\(long)")
        #expect(listener.heldBytes == 0)
        await listener.close()
    }

    @Test func allUnfinishedBodiesTogetherAreBounded() async throws {
        let listener = try await open()
        let size = WebhookListener.maxBytes - 100
        let senders = WebhookListener.maxBytesInAll / size + 4
        let body = String(repeating: "x", count: size)
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<senders {
                // One byte is missing in each.
                group.addTask { try await answer(listener, head(size + 1) + body) }
            }
            for _ in 0..<4 {
                let refused = try await group.next() ?? ""
                #expect(refused.hasPrefix("HTTP/1.1 503 "), "\(refused.prefix(200))")
            }
            #expect(listener.heldBytes <= WebhookListener.maxBytesInAll)
            group.cancelAll()
            // Those that were held end with their connections.
            while await group.nextResult() != nil {}
        }
        while listener.heldBytes > 0 { await Task.yield() }
        await listener.close()
    }
}
