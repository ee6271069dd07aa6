import Entrupy
import Hummingbird
import Simulation

extension Completed {
    /// The answer as JSON, or the error envelope.
    func response(_ status: HTTPResponse.Status = .ok) -> Answer where Output: Encodable {
        response { JSONAnswer.response($0, status: status, requestID: requestID) }
    }

    /// The answer, which is already encoded, or the error envelope.
    func encodedResponse(_ status: HTTPResponse.Status = .ok) -> Answer where Output == EncodedJSON {
        response { JSONAnswer.response(encoded: $0.bytes, status: status, requestID: requestID) }
    }

    /// An answer without a body, or the error envelope.
    func emptyResponse() -> Answer where Output == Void {
        response { _ in Response(status: .noContent, headers: [.requestID: requestID]) }
    }

    /// The answer as `render` builds it, or the error envelope.
    func response(_ render: (Output) -> Response) -> Answer {
        switch result {
        case .success(let output): Answer(render(output), outcome)
        case .failure(let error): Answer(ErrorAnswer.response(error, requestID: requestID), outcome)
        }
    }

    /// The answer as `render` builds it, which may wait, or the error envelope.
    func response(awaiting render: (Output) async -> Response) async -> Answer {
        switch result {
        case .success(let output): Answer(await render(output), outcome)
        case .failure(let error): Answer(ErrorAnswer.response(error, requestID: requestID), outcome)
        }
    }
}

extension Completed<Never> {
    /// The error envelope for a request that led to no operation.
    ///
    /// - Parameter hasSDKError: whether the answer names the error of Entrupy's SDK.
    func refusal(hasSDKError: Bool = true) -> Answer {
        switch result {
        case .failure(let error):
            Answer(ErrorAnswer.response(error, requestID: requestID, hasSDKError: hasSDKError), outcome)
        }
    }
}
