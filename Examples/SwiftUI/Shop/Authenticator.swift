import EntrupySDK
import Foundation
import UIKit

/// The app's use of the SDK.
final class Authenticator: NSObject, ObservableObject {
    struct Problem: Identifiable {
        let text: String
        var id: String { text }
    }

    @Published var isLoggedIn = false
    /// The results, by the item's name.
    @Published var results: [String: String] = [:]
    @Published var problem: Problem?

    /// Has the SDK's request signed by the app's back end, and logs in. The simulator plays the back end at `/partner`.
    func logIn() async {
        let address = ProcessInfo.processInfo.environment["ENTRUPY_SIM_URL"] ?? "http://127.0.0.1:8642"
        do {
            let login = try await post(address + "/partner/login", ["username": "demo", "password": "demo"], token: nil)
            let request = EntrupyApp.sharedInstance().generateSDKAuthorizationRequest()
            let signed = try await post(
                address + "/partner/authorize-entrupy-sdk-user", ["sdk_authorization_request": request],
                token: login["token"])
            EntrupyApp.sharedInstance().loginDelegate = self
            EntrupyApp.sharedInstance().loginUser(withSignedRequest: signed["signed_authorization_request"] ?? "")
        } catch {
            await MainActor.run { problem = Problem(text: error.localizedDescription) }
        }
    }

    func authenticate(_ name: String, from controller: UIViewController) {
        EntrupyApp.sharedInstance().captureDelegate = self
        let item: [String: Any] = ["brand": "Nike", "item_type": "Sneakers", "customer_item_id": name]
        EntrupyApp.sharedInstance().startCapture(forItem: item, viewController: controller)
    }

    private func post(_ url: String, _ body: [String: String], token: String?) async throws -> [String: String] {
        guard let url = URL(string: url) else { throw URLError(.badURL) }
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.httpBody = try JSONEncoder().encode(body)
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        if let token { request.setValue("Token \(token)", forHTTPHeaderField: "Authorization") }
        let (data, _) = try await URLSession.shared.data(for: request)
        return try JSONDecoder().decode([String: String].self, from: data)
    }
}

extension Authenticator: EntrupyLoginDelegate {
    func didLoginUserSuccessfully(_ expirationTime: TimeInterval) {
        isLoggedIn = true
    }

    func didLoginUserFailWithError(_ errorCode: EntrupyErrorCode, description: String, localizedDescription: String) {
        problem = Problem(text: localizedDescription)
    }
}

extension Authenticator: EntrupyCaptureDelegate {
    func didCaptureCompleteSuccessfully(_ result: [AnyHashable: Any], forItem item: [AnyHashable: Any]) {
        guard let data = try? JSONSerialization.data(withJSONObject: result),
            let parsed = try? JSONDecoder().decode(EntrupyCaptureResult.self, from: data)
        else { return }
        results[item["customer_item_id"] as? String ?? ""] = parsed.status.result.display.header
    }

    func didUserCancelCapture(forItem item: [AnyHashable: Any]) {}

    func didCaptureTimeout(forItem item: [AnyHashable: Any]) {
        problem = Problem(text: "The capture timed out.")
    }

    func didCaptureFailWithError(
        _ errorCode: EntrupyErrorCode, description: String, localizedDescription: String, forItem item: [AnyHashable: Any]
    ) {
        problem = Problem(text: localizedDescription)
    }
}
