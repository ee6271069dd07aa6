import EntrupySDK
import EntrupySimTesting
import Foundation
import SimulationAPI
import Testing

// What the vendor's iOS sample app does with the SDK, in its newest form, without SwiftUI.

extension EntrupyCaptureResult {
    /// The sample app adds this, so the module must not have it.
    fileprivate init(dictionary: [AnyHashable: Any]) throws {
        let json = try JSONSerialization.data(withJSONObject: dictionary)
        self = try JSONDecoder().decode(EntrupyCaptureResult.self, from: json)
    }
}

/// Captures items as the sample app does: from the controller of the first window.
private final class CaptureHandler: NSObject, EntrupyCaptureDelegate {
    enum End {
        case captured(EntrupyCaptureResult, item: [AnyHashable: Any])
        case failed(EntrupyErrorCode, String, item: [AnyHashable: Any])
        case cancelled, timedOut, unreadable, withoutController
    }

    private let entrupyApp = EntrupyApp.sharedInstance()
    private var onEnd: ((End) -> Void)?

    func capture(_ input: [String: Any]) async -> End {
        await withCheckedContinuation { continuation in
            onEnd = { end in
                nonisolated(unsafe) let end = end
                continuation.resume(returning: end)
            }
            startCapture(with: input)
        }
    }

    private func startCapture(with input: [String: Any]) {
        guard
            let viewController = UIApplication.shared.connectedScenes
                .compactMap({ $0 as? UIWindowScene })
                .first?.windows.first?.rootViewController
        else {
            onEnd?(.withoutController)
            return
        }
        entrupyApp.captureDelegate = self
        entrupyApp.startCapture(forItem: input, viewController: viewController)
    }

    func didCaptureCompleteSuccessfully(_ result: [AnyHashable: Any], forItem item: [AnyHashable: Any]) {
        do {
            onEnd?(.captured(try EntrupyCaptureResult(dictionary: result), item: item))
        } catch {
            onEnd?(.unreadable)
        }
    }

    func didUserCancelCapture(forItem item: [AnyHashable: Any]) { onEnd?(.cancelled) }
    func didCaptureTimeout(forItem item: [AnyHashable: Any]) { onEnd?(.timedOut) }
    func didCaptureFailWithError(
        _ errorCode: EntrupyErrorCode, description: String, localizedDescription: String,
        forItem item: [AnyHashable: Any]
    ) { onEnd?(.failed(errorCode, description, item: item)) }
}

@Suite(.entrupySim(frozenAt: "2026-01-05T09:00:00Z", randomSeed: 23), .timeLimit(.minutes(10)))
struct SampleAppTests {
    /// An item that was submitted, with its final result.
    private func submitted(
        _ item: [String: Any], _ app: TestApp, _ sim: SimulatedNamespace
    ) async throws -> EntrupyCaptureResult {
        guard case .captured(let result, let given) = await CaptureHandler().capture(item) else {
            Issue.record("\(item) was not captured")
            throw TestApp.NoEvent()
        }
        #expect(NSDictionary(dictionary: given) == NSDictionary(dictionary: item), "the delegate gets the app's item")
        #expect(result.status.result.id == .needs_review)
        try await sim.clock.advance(by: "5s")
        return try await app.sdk.fetchSessionDetails(entrupyId: result.entrupy_id)
    }

    /// The error of an item that is refused.
    private func refused(_ item: [String: Any]) async throws -> String {
        guard case .failed(let code, let text, let given) = await CaptureHandler().capture(item) else {
            Issue.record("\(item) was not refused")
            throw TestApp.NoEvent()
        }
        #expect(code == .ErrorCodeBadRequest, "\(text)")
        #expect(NSDictionary(dictionary: given) == NSDictionary(dictionary: item))
        return text
    }

    @Test func theItemsOfTheInventoryAreAuthenticated() async throws {
        try await withApp { app, sim in
            try await app.login()
            let sneaker = [
                "product_category": "sneakers", "brand": "Nike", "item_type": "Sneakers", "us_size": "",
                "style_code": "", "upc": "", "customer_item_id": "item-001",
            ]
            let bag = [
                "product_category": "luxury", "brand": "Louis Vuitton", "item_type": "Bags",
                "customer_item_id": "item-000",
            ]
            let jacket = [
                "product_category": "apparel", "brand": "Bape", "item_type": "Outerwear",
                "customer_item_id": "item-002",
            ]
            for item in [sneaker, bag, jacket] {
                let result = try await submitted(item, app, sim)
                #expect(result.status.result.id == .authentic, "\(item)")
                #expect(
                    result.text_fields?.contains { $0.is_identifier && $0.content == item["customer_item_id"] } == true)
            }
            try await sim.expectRequest("POST", "/sdk/captures", status: "201", times: 3)
        }
    }

    @Test func aFingerprintIsRegisteredAndFoundByTheCustomersID() async throws {
        try await withApp { app, sim in
            try await app.login()
            let item = try await submitted(
                ["capture_workflow": "fingerprint_register", "item_type": "Tops", "customer_item_id": "top-1"], app, sim
            )
            #expect(item.status.result.id == .registered)
            #expect(item.properties.brand.display["name"] == "" && item.more_details == nil)
            let same = try await submitted(
                ["capture_workflow": "fingerprint_compare", "customer_item_id": "top-1"], app, sim)
            #expect(same.status.result.id == .match && same.entrupy_id != item.entrupy_id)
            let other = try await submitted(
                ["capture_workflow": "fingerprint_compare", "customer_item_id": "top-2"], app, sim)
            #expect(other.status.result.id == .no_match)
        }
    }

    @Test func aFingerprintIsFoundByTheEntrupyID() async throws {
        try await withApp { app, sim in
            try await app.login()
            let item = try await submitted(
                ["capture_workflow": "fingerprint_register", "item_type": "Sneakers", "customer_item_id": "s-1"], app,
                sim)
            let same = try await submitted(
                ["capture_workflow": "fingerprint_compare", "entrupy_id": item.entrupy_id], app, sim)
            #expect(same.status.result.id == .match)
            let record = try await sim.control("GET", "/_sim/authentications/\(same.entrupy_id)")
            #expect(record.members?["v2"]?.members?["fingerprint_parent"]?.text == item.entrupy_id)
            let unknown = ["capture_workflow": "fingerprint_compare", "entrupy_id": "NOBODY22"]
            #expect(try await refused(unknown).contains("item.entrupy_id must be the id of an item"))
        }
    }

    @Test func anUnknownWorkflowIsRefusedThroughTheDelegate() async throws {
        try await withApp { app, sim in
            try await app.login()
            let text = try await refused(["capture_workflow": "fingerprint", "item_type": "Tops"])
            #expect(
                text.contains(
                    "item.capture_workflow must be fingerprint_register or fingerprint_compare, got \"fingerprint\""))
            let untyped = try await refused(["capture_workflow": "fingerprint_register", "customer_item_id": "x"])
            #expect(untyped.contains("item.item_type"))
            try await sim.expectRequest("PUT", "/sdk/captures/*/images/*", times: 0)
        }
    }

    /// The sample app finds its colors in the framework's bundle.
    @Test func theModuleHasABundle() {
        #expect(!Bundle(for: EntrupyApp.self).bundlePath.isEmpty)
    }
}
