import Foundation
import HTTPTypes
import Hummingbird
import NIOConcurrencyHelpers
import NIOCore
import TestSupport
import Testing

@testable import Server
@testable import Simulation

/// Bodies in gzip, which threads of their own decode and encode.
@Suite struct OffloadedBodyTests {
    private static let text = Data(#"{"a":"0123456789"}"#.utf8)

    private static func request(_ body: Data, _ coding: String? = nil) -> Request {
        var fields: HTTPFields = [.contentLength: "\(body.count)"]
        fields[.contentEncoding] = coding
        let head = HTTPRequest(
            method: .post, scheme: "http", authority: "localhost", path: "/sdk/login", headerFields: fields)
        return Request(head: head, body: RequestBody(buffer: ByteBuffer(bytes: body)))
    }

    @Test(.timeLimit(.minutes(15))) func plainRequestsAreReadWhileOthersWaitToBeDecoded() async throws {
        let environment = try await PipelineTests.namespaces().environment
        let gate = DispatchSemaphore(value: 0)
        for _ in 0..<2 { environment.workThreads.submit { _ in gate.wait() } }
        let reader = BodyReader(timeout: .seconds(3600), environment: environment)
        let encoded = try Self.text.compressed()
        let decoded = NIOLockedValueBox(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 * ProcessInfo.processInfo.activeProcessorCount {
                group.addTask {
                    let body = try await reader.read(Self.request(encoded, "gzip"), upTo: 1000, into: nil).get()
                    #expect(Data(try body.content.get().readableBytesView) == Self.text && body.isDecoded)
                    decoded.withLockedValue { $0 += 1 }
                }
            }
            for _ in 0..<100 {
                let body = try await reader.read(Self.request(Self.text), upTo: 1000, into: nil).get()
                #expect(Data(try body.content.get().readableBytesView) == Self.text)
                await Task.yield()
            }
            #expect(decoded.withLockedValue { $0 } == 0, "they need a thread")
            for _ in 0..<2 { gate.signal() }
            try await group.waitForAll()
        }
    }

    @Test(.timeLimit(.minutes(15))) func plainAnswersAreSentWhileOthersWaitToBeEncoded() async throws {
        let environment = try await PipelineTests.namespaces().environment
        let gate = DispatchSemaphore(value: 0)
        for _ in 0..<2 { environment.workThreads.submit { _ in gate.wait() } }
        let text = (0..<500).map { "\($0 * 7919)" }.joined(separator: ",")
        let inner = PipelineTests.Inner { _ in
            Server.Answer(
                Response(
                    status: .ok, headers: [.contentType: "text/plain", .contentLength: "\(text.utf8.count)"],
                    body: .init(byteBuffer: ByteBuffer(string: text))))
        }
        let responder = CompressingResponder(inner: inner, environment: environment)
        let sent = NIOLockedValueBox(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 * ProcessInfo.processInfo.activeProcessorCount {
                group.addTask {
                    let request = PipelineTests.request("/sdk/config", headers: [.acceptEncoding: "gzip"])
                    let answer = try await responder.respond(to: request)
                    #expect(answer.response.headers[.contentEncoding] == "gzip")
                    sent.withLockedValue { $0 += 1 }
                }
            }
            for _ in 0..<100 {
                let answer = try await responder.respond(to: PipelineTests.request("/sdk/config"))
                #expect(answer.response.headers[.contentEncoding] == nil)
                await Task.yield()
            }
            #expect(sent.withLockedValue { $0 } == 0, "they need a thread")
            for _ in 0..<2 { gate.signal() }
            try await group.waitForAll()
        }
    }
}
