import EntrupySDK
import Foundation

/// The part of an app that authenticates items. Nothing in it knows of the simulator.
public final class Authenticator: NSObject, @unchecked Sendable {
    public private(set) var results: [EntrupyCaptureResult] = []
    public private(set) var errors: [EntrupyErrorCode] = []
    public private(set) var isLoggedIn = false
    public private(set) var hasCancelled = false

    public func logIn(signedRequest: String) {
        EntrupyApp.sharedInstance().loginDelegate = self
        EntrupyApp.sharedInstance().loginUser(withSignedRequest: signedRequest)
    }

    public func authenticate(_ item: [String: Any], from controller: UIViewController) {
        guard EntrupyApp.sharedInstance().isAuthorizationValid() else {
            errors.append(.ErrorCodeUnauthorizedAccess)
            return
        }
        EntrupyApp.sharedInstance().captureDelegate = self
        EntrupyApp.sharedInstance().startCapture(forItem: item, viewController: controller)
    }
}

extension Authenticator: EntrupyLoginDelegate {
    public func didLoginUserSuccessfully(_ expirationTime: TimeInterval) {
        isLoggedIn = true
    }

    public func didLoginUserFailWithError(
        _ errorCode: EntrupyErrorCode, description: String, localizedDescription: String
    ) {
        errors.append(errorCode)
    }
}

extension Authenticator: EntrupyCaptureDelegate {
    public func didCaptureCompleteSuccessfully(_ result: [AnyHashable: Any], forItem item: [AnyHashable: Any]) {
        do {
            let jsonData = try JSONSerialization.data(withJSONObject: result)
            results.append(try JSONDecoder().decode(EntrupyCaptureResult.self, from: jsonData))
        } catch {
            errors.append(.ErrorCodeUnknownError)
        }
    }

    public func didUserCancelCapture(forItem item: [AnyHashable: Any]) {
        hasCancelled = true
    }

    public func didCaptureTimeout(forItem item: [AnyHashable: Any]) {
        errors.append(.ErrorCodeRequestTimeoutError)
    }

    public func didCaptureFailWithError(
        _ errorCode: EntrupyErrorCode, description: String, localizedDescription: String,
        forItem item: [AnyHashable: Any]
    ) {
        errors.append(errorCode)
    }
}
