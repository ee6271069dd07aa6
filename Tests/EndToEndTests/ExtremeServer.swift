import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix
import SimulationAPI
import TestSupport

/// A server that answers each operation of the description in its own form, with values that no server should send.
final class ExtremeServer: Sendable {
    /// The values of the answers.
    enum Values: String, CaseIterable, Sendable {
        /// The largest counts; the smallest numbers; the largest and the smallest, in turn.
        case counts, smallest, mixed
        /// -1, and lists of one element.
        case negative
        /// 0, empty texts and lists, null, and no member that may be absent.
        case empty
        /// Texts of 30 kB with control characters.
        case long
        /// An object without members; lists in lists; an error with large values.
        case bare, nested, refused
    }

    let url: String
    private let channel: any Channel

    init(_ values: Values) async throws {
        let answers = ExtremeAnswers(values)
        channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(Handler(answers))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        url = "http://127.0.0.1:\(channel.localAddress?.port ?? 0)"
    }

    func stop() { channel.close(promise: nil) }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let answers: ExtremeAnswers
        private var head: HTTPRequestHead?

        init(_ answers: ExtremeAnswers) { self.answers = answers }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head): self.head = head
            case .body: break
            case .end:
                guard let asked = head else { return }
                let answer = answers.answer("\(asked.method)", asked.uri)
                var head = HTTPResponseHead(version: .http1_1, status: .init(statusCode: answer.status))
                head.headers.add(name: "Content-Type", value: answer.type)
                head.headers.add(name: "Connection", value: "close")
                if answer.status != 204 { head.headers.add(name: "Content-Length", value: "\(answer.body.count)") }
                context.write(wrapOutboundOut(.head(head)), promise: nil)
                context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: answer.body)))), promise: nil)
                let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
                context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in
                    bound.value.close(promise: nil)
                }
            }
        }
    }
}

/// The answers of an ``ExtremeServer``, made of the schemas of the description.
private struct ExtremeAnswers: Sendable {
    typealias Answer = (status: Int, type: String, body: Data)

    private let values: ExtremeServer.Values
    /// The answers that were made, by the names of their operations.
    private let made = NIOLockedValueBox<[String: Answer]>([:])

    init(_ values: ExtremeServer.Values) { self.values = values }

    func answer(_ method: String, _ target: String) -> Answer {
        let operation = Contract.shared.operation(method, target)
        let name = operation?.name ?? ""
        if let known = made.withLockedValue({ $0[name] }) { return known }
        let answer = answer(operation, target)
        made.withLockedValue { $0[name] = answer }
        return answer
    }

    private func answer(_ operation: Contract.Operation?, _ target: String) -> Answer {
        let contract = Contract.shared
        let responses = operation?.description["responses"].members ?? [:]
        let found = responses.filter { $0.key.hasPrefix("2") }.sorted { $0.key < $1.key }.first
        let isRefused = values == .refused && !target.contains("/_sim/info")
        let status = isRefused ? 422 : found.flatMap { Int($0.key) } ?? 200
        let content = isRefused ? nil : contract.resolved(found?.value ?? .null)["content"].members
        let type = isRefused ? "application/json" : content?.keys.sorted().first ?? "text/plain"
        switch type {
        case "application/json", "application/yaml":
            let schema =
                isRefused ? contract.document["components.schemas.Error"] : content?[type]?["schema"] ?? .null
            return (status, type, json(schema))
        case "text/event-stream": return (status, type, events())
        case "application/octet-stream": return (status, type, Data(repeating: 0xff, count: 5000))
        default: return (status, type, Data("pong".utf8))
        }
    }

    private func events() -> Data {
        let schemas = Contract.shared.document["components.schemas"]
        let events = [
            ("open", "StreamOpen"), ("request", "JournaledRequest"), ("state", "StateChange"), ("missed", "Missed"),
        ]
        let text = events.map { name, schema in
            "id: 99999999999999999999999\nevent: \(name)\ndata: \(String(decoding: json(schemas[schema]), as: UTF8.self))\n\n"
        }
        return Data(text.joined().utf8)
    }

    private func json(_ schema: JSONValue) -> Data {
        switch values {
        case .bare: return Data("{}".utf8)
        case .nested: return Data((String(repeating: "[", count: 100_000)).utf8)
        default:
            var maker = ValueMaker(values: values)
            // A value of numbers, texts and null can be written.
            return (try? WireJSON.encode(maker.value(schema, depth: 0))) ?? Data()
        }
    }
}

private struct ValueMaker {
    let values: ExtremeServer.Values
    private var turn = 0

    init(values: ExtremeServer.Values) { self.values = values }

    mutating func value(_ schema: JSONValue, depth: Int) -> JSONValue {
        let schema = Contract.shared.resolved(schema)
        guard depth < 14, let keywords = schema.members else { return .null }
        if let constant = keywords["const"] { return constant }
        if let choices = keywords["enum"]?.elements, let last = choices.last(where: { $0 != .null }) { return last }
        if let parts = keywords["allOf"]?.elements {
            return parts.reduce(.object([:])) { $0.merging(value($1, depth: depth + 1)) }
        }
        if let choices = (keywords["oneOf"] ?? keywords["anyOf"])?.elements {
            let isNullable = choices.contains { $0["type"].text == "null" }
            if isNullable, values == .empty { return .null }
            return value(choices.first { $0["type"].text != "null" } ?? .null, depth: depth + 1)
        }
        let types = keywords["type"]?.elements?.compactMap(\.text) ?? [keywords["type"]?.text ?? "object"]
        if values == .empty, types.contains("null") { return .null }
        return value(of: types.first { $0 != "null" } ?? "null", keywords, depth: depth)
    }

    private mutating func value(of type: String, _ schema: JSONObject, depth: Int) -> JSONValue {
        turn += 1
        switch type {
        case "integer": return .number(JSONNumber(text: number(isWhole: true)))
        case "number": return .number(JSONNumber(text: number(isWhole: false)))
        case "boolean": return .bool(turn.isMultiple(of: 2))
        case "string": return .string(text)
        case "array":
            let count = values == .empty ? 0 : values == .negative ? 1 : 3
            return .array((0..<count).map { _ in value(schema["items"] ?? .null, depth: depth + 1) })
        case "object":
            let required = Set(schema["required"]?.elements?.compactMap(\.text) ?? [])
            let members = (schema["properties"]?.members ?? [:]).filter {
                values != .empty || required.contains($0.key)
            }
            // In the order of the names, so that a value has the same number in each run.
            return .object(
                JSONObject(members.sorted { $0.key < $1.key }.map { ($0.key, value($0.value, depth: depth + 1)) }))
        default: return .null
        }
    }

    private func number(isWhole: Bool) -> String {
        let extremes = isWhole ? ["\(Int.max)", "\(Int.min)", "-1", "0"] : ["1e308", "-1e308", "1e19", "-0.5"]
        return switch values {
        case .counts: isWhole ? extremes[0] : "1.5"
        case .refused: extremes[0]
        case .smallest: extremes[1]
        case .negative: "-1"
        case .mixed, .long: extremes[turn % 4]
        default: "0"
        }
    }

    private var text: String {
        switch values {
        case .empty: ""
        case .long: String(repeating: "\u{202e}\u{1b}[2Jé\n", count: 3_000)
        default: "x\(turn)"
        }
    }
}
