import HTTPTypes
import Hummingbird
import NIOCore
import Simulation
import SimulationAPI

/// Changes the platform's answers as settings of the namespace say: the headers of limits [P, D limit-headers], and what the vendor
/// may change without notice [P, D future]. The journal and the recording hold the changed answer.
///
/// A step of the fault responder and not a responder: few requests need it, and every request pays for a responder.
struct SettingsOfAnswers: Sendable {
    let routes: RouteTable
    /// The maximum nesting of an answer that is changed: that of seed data, in an answer around it, and more.
    private static var maxDepth: Int { 512 }

    /// The answer as it is, or changed.
    func applied(to answer: Answer, of request: IncomingRequest) async -> Answer {
        guard var outcome = answer.outcome, outcome.changesAnswer else { return answer }
        var answer = answer
        var response = answer.response
        // The answer of a fault rule stays as it was written. App Components are another vendor's.
        if let future = outcome.future, request.target.hasSDKErrors, outcome.fault.map({ $0.effect != nil }) ?? true {
            if future.changes.changesErrors, let status = status(of: answer, to: request, future) {
                // For the journal, beside the fact behind the refusal: no answer has it.
                let change = "the setting future.errors made a \(response.status.code) a \(status.code)"
                outcome.change { $0.because = $0.because.map { "\(change); \($0)" } ?? change }
                response.status = status
            }
            response = await Self.changed(response, future)
        }
        if let limit = outcome.limit { response.headers.add(limit) }
        answer.replace(with: response, outcome)
        return answer
    }

    /// The status of an error that the description does not list for its route; `nil` if the status stays.
    private func status(
        of answer: Answer, to request: IncomingRequest, _ future: NamespaceFuture
    ) -> HTTPResponse.Status? {
        let status = answer.response.status
        let route = routes.route(request.method, request.target.path)
        let isKnown = route?.endpoint(request.method) != nil
        let path = route?.path ?? request.target.path
        // HEAD has the status of GET.
        let method = request.method == .head ? HTTPRequest.Method.get : request.method
        guard status.kind == .clientError,
            !isKnown || DescribedAnswers.statuses(method.rawValue, path)?.contains(status.code) != true
        else { return nil }
        return HTTPResponse.Status(code: future.status(ofErrorAt: "\(method.rawValue) \(path)"))
    }

    /// The answer with its JSON changed. One that is no JSON stays as it is.
    private static func changed(_ response: Response, _ future: NamespaceFuture) async -> Response {
        guard future.changes.changesBodies, response.headers[.contentType] == "application/json" else {
            return response
        }
        let bytes = await response.collectedBody()
        // An answer of ours is JSON. One that is not can be sent, but not changed.
        guard let value = try? StrictJSON.parse(Array(bytes.readableBytesView), maxDepth: maxDepth) else {
            return response
        }
        var response = response
        response.body = ResponseBody(
            byteBuffer: ByteBuffer(bytes: future.changed(JSONDocument(value)).bytes()))
        return response
    }
}

extension HTTPFields {
    /// Adds how much of a limit is left: the number allowed, how many more are allowed now, and the time at which one more is
    /// allowed again, in whole seconds since 1970 by the namespace's clock [P].
    fileprivate mutating func add(_ limit: LimitLeft) {
        self[.rateLimit] = String(limit.limit)
        self[.rateLimitRemaining] = String(limit.remaining)
        self[.rateLimitReset] = String((limit.reset.microseconds + 999_999) / 1_000_000)
    }
}

extension HTTPField.Name {
    fileprivate static let rateLimit = HTTPField.Name("X-RateLimit-Limit")!
    fileprivate static let rateLimitRemaining = HTTPField.Name("X-RateLimit-Remaining")!
    fileprivate static let rateLimitReset = HTTPField.Name("X-RateLimit-Reset")!
}
