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
        case .failure(let error): Answer(refusing: error, requestID: requestID, outcome)
        }
    }

    /// The answer as `render` builds it, which may wait, or the error envelope.
    func response(
        hasSDKError: Bool = true, awaiting render: (Output) async throws(PlatformError) -> Response
    ) async -> Answer {
        do throws(PlatformError) {
            return Answer(try await render(result.get()), outcome)
        } catch {
            return Answer(refusing: error, requestID: requestID, outcome, hasSDKError: hasSDKError)
        }
    }
}

extension Answer {
    /// The error envelope. The journal gets the fact behind the refusal [D because].
    fileprivate init(
        refusing error: PlatformError, requestID: String, _ outcome: RequestOutcome?, hasSDKError: Bool = true
    ) {
        let response = ErrorAnswer.response(error, requestID: requestID, hasSDKError: hasSDKError)
        self.init(response, refusing: error, outcome, hasSDKError: hasSDKError)
    }

    /// An error in a form of the route's own. The journal gets the fact behind the refusal [D because].
    init(_ response: Response, refusing error: PlatformError, _ outcome: RequestOutcome?, hasSDKError: Bool) {
        self.init(response, outcome?.refused(error))
        edges = ErrorAnswer.edges(error, hasSDKError: hasSDKError)
    }
}

extension RequestOutcome {
    /// The statuses of refusals that have a fact behind them.
    private static let refusals = [403, 404, 409]

    /// The outcome with the fact behind a refusal. The answer has no part of it.
    func refused(_ error: PlatformError) -> RequestOutcome {
        var outcome = self
        if let state = error.state { outcome.change { $0.state = state } }
        if let because = error.because, Self.refusals.contains(ErrorTable.row(error).status.code) {
            outcome.change { $0.because = because }
        }
        return outcome
    }
}

extension Completed<Never> {
    /// The error envelope for a request that led to no operation.
    func refusal(hasSDKError: Bool = true) -> Answer {
        switch result {
        case .failure(let error):
            Answer(refusing: error, requestID: requestID, outcome, hasSDKError: hasSDKError)
        }
    }
}

extension Completed {
    /// 201 if the snapshot or scenario is new, 200 if it replaced one of the same name.
    func savedResponse<Info>() -> Answer where Output == Saved<Info> {
        response { saved in
            JSONAnswer.response(saved.info, status: saved.isNew ? .created : .ok, requestID: requestID)
        }
    }
}
