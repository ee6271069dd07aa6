import ClientTransport
import Foundation

/// The end of a capture.
enum CaptureEnd: Sendable {
    /// Submitted, with the item.
    case submitted(JSONObjectData)
    case cancelled
    case timedOut
}

extension Call {
    /// Starts a capture and does what a script says.
    ///
    /// - Parameter start: makes the request that starts it, from the session's token.
    func run(
        _ script: EntrupySimulation.CaptureScript, _ start: @Sendable (String) throws -> PlatformClient.Request
    ) async throws -> CaptureEnd {
        if case .denyCamera = script {
            throw SDKFailure(.ErrorCodeUserDeniedPermissions, "the user refused the camera, as the script says")
        }
        try script.checkPictures()
        let token = try await tokenAfterConfiguration()
        let capture = try Capture(try await sendObject(try start(token)))
        do {
            return try await play(script, capture, token)
        } catch let failure as SDKFailure where failure.isCaptureTimeout {
            return .timedOut
        }
    }

    private func play(
        _ script: EntrupySimulation.CaptureScript, _ capture: Capture, _ token: String
    ) async throws -> CaptureEnd {
        let path = "/sdk/captures/" + capture.id.segment
        switch script {
        case .submit(let images):
            try await upload(images, capture, token, atMost: .max)
            return .submitted(try await submit(path, token))
        case .retake(let regions, let message, let images):
            try await upload(images, capture, token, atMost: .max)
            let result = try await submit(path, token)
            try await requestRetake(of: result, regions, message)
            return .submitted(result)
        case .loseConnection(let count):
            let sent = min(max(0, count), capture.regions.count)
            try await upload(.made, capture, token, atMost: sent)
            throw SDKFailure(
                .ErrorCodeImageUploadError, "the connection was lost after picture \(sent), as the script says")
        case .cancel:
            _ = try await send(.init(method: "POST", path: path + "/cancel", token: token))
            return .cancelled
        case .timeout:
            try await advanceClock(to: capture.expiresAt)
            return try await waitForTimeout(capture, path, token)
        case .leaveOpen:
            return try await waitForTimeout(capture, path, token)
        case .denyCamera:
            return .cancelled
        }
    }

    private func upload(
        _ images: EntrupySimulation.Images, _ capture: Capture, _ token: String, atMost count: Int
    ) async throws {
        for picture in try images.pictures(for: capture.regions).prefix(count) {
            let path = "/sdk/captures/" + capture.id.segment + "/images/" + picture.region.segment
            do {
                _ = try await sendObject(
                    .init(method: "PUT", path: path, body: picture.bytes, contentType: picture.type, token: token),
                    needs: ["sha256"])
            } catch var failure as SDKFailure {
                // A failed transfer or a rejected picture is an upload error. A refused session, limit or capture keeps
                // its own code.
                let isUploadError = failure.status.map { $0 >= 500 || $0 == 408 || $0 == 413 || $0 == 422 } ?? true
                if isUploadError {
                    failure.code = .ErrorCodeImageUploadError
                    failure.description = "the picture of \(picture.region) was not uploaded: " + failure.description
                }
                throw failure
            }
        }
    }

    private func submit(_ path: String, _ token: String) async throws -> JSONObjectData {
        try await sendObject(
            .init(method: "POST", path: path + "/submit", token: token), needs: ["authentication_id", "status"])
    }

    /// Asks for new pictures, as support would.
    private func requestRetake(of result: JSONObjectData, _ regions: [String]?, _ message: String?) async throws {
        let id = result.dictionary["entrupy_id"] as? String ?? ""
        var body: [String: Any] = [:]
        body["regions"] = regions
        body["message"] = message
        do {
            _ = try await send(
                .json(
                    "POST", "/_sim/authentications/\(id.segment)/retake", body, token: nil,
                    purpose: "the retake")
            )
        } catch var failure as SDKFailure {
            failure.description =
                "the item \(id) was submitted, but support could not ask for new pictures: \(failure.description)"
            throw failure
        }
    }

    /// Advances the namespace's clock to a moment, unless it is past it.
    private func advanceClock(to moment: Double) async throws {
        do {
            let rest = moment - (try await clock())
            guard rest > 0 else { return }
            _ = try await send(
                .json(
                    "POST", "/_sim/clock/advance", ["by": (rest * 1000).rounded(.up) / 1000], token: nil,
                    purpose: "the advance"))
        } catch var failure as SDKFailure {
            failure.description =
                "the script .timeout advances the namespace's clock, which failed: \(failure.description). A server that does not "
                + "listen on loopback requires EntrupySimulation.controlToken"
            throw failure
        }
    }

    private func clock() async throws -> Double {
        let clock = try await sendObject(.init(path: "/_sim/clock")).dictionary
        guard let epoch = (clock["epoch"] as? NSNumber)?.doubleValue else {
            throw SDKFailure(.ErrorCodeUnknownError, "the answer of /_sim/clock lacks epoch")
        }
        return epoch
    }

    /// Waits until the namespace's clock has passed the end of a capture.
    private func waitForTimeout(_ capture: Capture, _ path: String, _ token: String) async throws -> CaptureEnd {
        while try await clock() < capture.expiresAt {
            try await Task.sleep(nanoseconds: 50_000_000)
        }
        let status = try await sendObject(.init(path: path, token: token)).dictionary["status"] as? String
        switch status {
        case "cancelled": return .cancelled
        case "timed_out": return .timedOut
        default:
            throw SDKFailure(
                .ErrorCodeUnknownError,
                "the capture \(capture.id) should have timed out, and is \(status ?? "without a status")")
        }
    }
}

/// A capture as the platform answers it.
private struct Capture: Sendable {
    let id: String
    let regions: [String]
    /// Epoch seconds.
    let expiresAt: Double

    init(_ answer: JSONObjectData) throws {
        let members = answer.dictionary
        guard let id = members["capture_id"] as? String, let steps = members["steps"] as? [[String: Any]],
            let expiresAt = (members["expires_at"] as? NSNumber)?.doubleValue
        else {
            throw SDKFailure(.ErrorCodeUnknownError, "the answer to the start of the capture is not a capture")
        }
        self.id = id
        regions = steps.compactMap { $0["region_id"] as? String }
        self.expiresAt = expiresAt
    }
}
