import EntrupySDK
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Prints each callback, and holds what the next step needs.
final class App: NSObject {
    var isDone = false
    var item: EntrupyCaptureResult?

    /// Runs a call of the SDK until its callback came.
    func run(_ name: String, _ call: () -> Void) {
        print("-> \(name)")
        isDone = false
        call()
        guard EntrupySimulation.run(until: { self.isDone }, timeout: 30) else {
            print("   no callback within 30 s")
            exit(1)
        }
    }

    func tell(_ text: String) {
        print("   \(text)")
        isDone = true
    }

    func fail(_ method: String, _ code: EntrupyErrorCode, _ description: String) {
        print("   \(method): \(code): \(description)")
        exit(1)
    }
}

extension App: EntrupyLoginDelegate, EntrupyConfigDelegate, EntrupyCaptureDelegate, EntrupySearchDelegate, EntrupyFlagDelegate {
    func didLoginUserSuccessfully(_ expirationTime: TimeInterval) {
        tell("didLoginUserSuccessfully(\(Date(timeIntervalSince1970: expirationTime)))")
    }

    func didLoginUserFailWithError(_ errorCode: EntrupyErrorCode, description: String, localizedDescription: String) {
        fail("didLoginUserFailWithError", errorCode, description)
    }

    func didFetchConfigurationSuccessfully() {
        tell("didFetchConfigurationSuccessfully()")
    }

    func didFetchConfigurationFailWithError(
        _ errorCode: EntrupyErrorCode, description: String, localizedDescription: String
    ) {
        fail("didFetchConfigurationFailWithError", errorCode, description)
    }

    func didCaptureCompleteSuccessfully(_ result: [AnyHashable: Any], forItem item: [AnyHashable: Any]) {
        do {
            let jsonData = try JSONSerialization.data(withJSONObject: result)
            let parsed = try JSONDecoder().decode(EntrupyCaptureResult.self, from: jsonData)
            self.item = parsed
            tell("didCaptureCompleteSuccessfully: \(parsed.entrupy_id) is \(parsed.status.result.display.header)")
        } catch {
            fail("didCaptureCompleteSuccessfully", .ErrorCodeUnknownError, "\(error)")
        }
    }

    func didUserCancelCapture(forItem item: [AnyHashable: Any]) {
        tell("didUserCancelCapture")
    }

    func didCaptureTimeout(forItem item: [AnyHashable: Any]) {
        tell("didCaptureTimeout")
    }

    func didCaptureFailWithError(
        _ errorCode: EntrupyErrorCode, description: String, localizedDescription: String, forItem item: [AnyHashable: Any]
    ) {
        fail("didCaptureFailWithError", errorCode, description)
    }

    func didSearchSubmissionsCompleteSuccessfully(_ result: [AnyHashable: Any]) {
        tell("didSearchSubmissionsCompleteSuccessfully: \(result["item_count"] ?? 0) items")
    }

    func didSearchSubmissionsFailWithError(
        _ errorCode: EntrupyErrorCode, description: String, localizedDescription: String
    ) {
        fail("didSearchSubmissionsFailWithError", errorCode, description)
    }

    func didFlagResultSuccessfully(forEntrupyID entrupyID: String, forRequestedFlag flag: Bool) {
        tell("didFlagResultSuccessfully(\(entrupyID), \(flag))")
    }

    func didFlagResultFailWithError(
        _ errorCode: EntrupyErrorCode, description: String, localizedDescription: String, forEntrupyID entrupyID: String,
        forRequestedFlag flag: Bool
    ) {
        fail("didFlagResultFailWithError", errorCode, description)
    }
}

/// The app's back end: has the request signed with the organization's token.
func signed(_ request: String) -> String {
    var call = URLRequest(url: EntrupySimulation.baseURL.appendingPathComponent("v2/integrations/authorize-user"))
    call.httpMethod = "POST"
    call.setValue("Token demo-api-token", forHTTPHeaderField: "Authorization")
    call.setValue("application/json", forHTTPHeaderField: "Content-Type")
    call.httpBody = try? JSONEncoder().encode([
        "sdk_authorization_request": request, "unique_user_id": "command-line", "email": "user@example.com",
    ])
    let answered = DispatchSemaphore(value: 0)
    nonisolated(unsafe) var answer: [String: Any] = [:]
    URLSession.shared.dataTask(with: call) { data, _, error in
        if let error { print("   no server at \(EntrupySimulation.baseURL): \(error.localizedDescription)") }
        answer = (try? JSONSerialization.jsonObject(with: data ?? Data()) as? [String: Any]) ?? [:]
        answered.signal()
    }.resume()
    answered.wait()
    return answer["signed_authorization_request"] as? String ?? ""
}

let app = App()
let sdk = EntrupyApp.sharedInstance()
sdk.loginDelegate = app
sdk.configDelegate = app
sdk.captureDelegate = app
sdk.searchDelegate = app
sdk.flagDelegate = app

app.run("loginUser") { sdk.loginUser(withSignedRequest: signed(sdk.generateSDKAuthorizationRequest())) }
app.run("fetchConfigurationType") { sdk.fetchConfigurationType(.ConfigTypeProduction) }
EntrupySimulation.script(.cancel)
let sneaker: [String: Any] = [
    "brand": "Nike", "item_type": "Sneakers", "customer_item_id": "sim-authentic-after-0s-\(UUID().uuidString)",
]
app.run("startCapture, which the person cancels") { sdk.startCapture(forItem: sneaker, viewController: UIViewController()) }
app.run("startCapture") { sdk.startCapture(forItem: sneaker, viewController: UIViewController()) }
let id = app.item?.entrupy_id ?? ""
app.run("getFlagDetailsForResult") {
    sdk.getFlagDetailsForResult(withEntrupyID: id) { details, error in
        app.tell("is_flaggable: \(details?["is_flaggable"] ?? error?.localizedDescription ?? "")")
    }
}
app.run("setFlag(true)") { sdk.setFlag(true, forResultWithEntrupyID: id) }
app.run("setFlag(false)") { sdk.setFlag(false, forResultWithEntrupyID: id) }
app.run("searchSubmissions") {
    sdk.searchSubmissions(at: [], filters: [], startDate: 0, endDate: 0, paginationLimit: 20)
}
sdk.cleanup()
print("-> cleanup")
