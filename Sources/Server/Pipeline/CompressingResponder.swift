import HTTPTypes
import Hummingbird
import NIOCore
import Simulation

/// Compresses answers with gzip for clients that ask for it [D answer-encoding]. The journal and recordings hold the plain
/// body, and a fault is not hidden behind a compression.
struct CompressingResponder<Inner: RequestResponder>: RequestResponder {
    let inner: Inner
    let environment: Simulation.Environment
    /// Whether this is a replay, which compares plain bodies.
    var isReplay = false

    func respond(to request: IncomingRequest) async throws -> Answer {
        let answer = try await inner.respond(to: request)
        guard !isReplay, GzipEncoder.isWorthCompressing(answer.response, for: request.headers) else { return answer }
        return answer.replacing(await GzipEncoder.encode(answer, environment))
    }
}

extension Answer {
    /// The same answer with another form on the wire.
    func replacing(_ response: Response) -> Answer {
        var answer = self
        answer.response = response
        return answer
    }
}

enum GzipEncoder {
    /// The sizes of bodies that are compressed, in bytes. Shorter ones fit into one packet anyway, and longer ones would have to be
    /// held in memory.
    private static let sizes = 1_024...8_000_000
    /// The highest ratio of the sizes before and after. Some clients take more for an attack: AsyncHTTPClient stops at 25.
    private static let maxRatio = 20

    /// Whether `Accept-Encoding` names gzip with a weight above zero (RFC 9110, section 12.5.3).
    private static func isAccepted(_ headers: HTTPFields) -> Bool {
        var isAccepted: Bool?
        for value in headers[values: .acceptEncoding] {
            for part in value.split(at: ",") {
                let parts = part.split(at: ";").map { $0.trimmed.lowercased() }
                guard let name = parts.first, name.isOne(of: ["gzip", "x-gzip", "*"]) else { continue }
                let weight = parts.dropFirst().first { $0.begins(with: "q=") }
                let isWanted = weight?.utf8.dropFirst(2).contains { (0x31...0x39).contains($0) } ?? true
                // `*` matches codings that the header does not name.
                if !name.isIdentical(to: "*") { return isWanted }
                isAccepted = isWanted
            }
        }
        return isAccepted ?? false
    }

    /// Whether the client asks for it, and the answer is text of a size that is worth it, and no fault changed it. Most have another
    /// size, and no headers need be read.
    static func isWorthCompressing(_ response: Response, for headers: HTTPFields) -> Bool {
        guard response.body.contentLength.map(sizes.contains) ?? false, isAccepted(headers),
            response.headers[.contentEncoding] == nil, response.headers[.fault] == nil,
            let type = response.headers[.contentType]
        else { return false }
        return ["application/json", "text/", "image/svg", "application/yaml"].contains { type.begins(with: $0) }
    }

    static func encode(_ answer: Answer, _ environment: Simulation.Environment) async -> Response {
        var response = answer.response
        let plain: ByteBuffer
        let encoded: ByteBuffer?
        if let document = answer.document {
            plain = document.plain
            // Without memory for gzip the answer stays plain.
            encoded = try? await document.encoded(environment)
        } else {
            plain = await response.collectedBody()
            response.body = ResponseBody(byteBuffer: plain)
            // The same.
            encoded = try? await environment.offload { try GzipData.encode(plain) }
        }
        guard let encoded, encoded.readableBytes * maxRatio >= plain.readableBytes else { return response }
        response.body = ResponseBody(byteBuffer: encoded)
        response.headers[.contentLength] = String(encoded.readableBytes)
        response.headers[.contentEncoding] = "gzip"
        response.headers.append(HTTPField(name: .vary, value: "Accept-Encoding"))
        return response
    }
}
