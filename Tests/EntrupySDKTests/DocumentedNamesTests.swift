import EntrupySDK
import EntrupySimTesting
import Foundation
import Testing

/// Every name, label and type of the vendor's interface that makes sense without a camera, once. It has to compile.
@Suite struct DocumentedNamesTests {
    @Test func errorsHaveTheVendorsRawValues() {
        let codes: [(EntrupyErrorCode, UInt)] = [
            (.ErrorCodeOfflineAccess, 0), (.ErrorCodeBadRequest, 1), (.ErrorCodeUnauthorizedAccess, 2),
            (.ErrorCodeForbiddenError, 3), (.ErrorCodeInternalServerError, 4), (.ErrorCodeRequestTimeoutError, 5),
            (.ErrorCodeServerTimeoutError, 6), (.ErrorCodeTooManyRequests, 7), (.ErrorCodeImageUploadError, 8),
            (.ErrorCodeUserDeniedPermissions, 9), (.ErrorCodeUnknownError, 10), (.ErrorCodeSearchItemNotFound, 11),
            (.ErrorCodeSearchItemFound, 12),
        ]
        for (code, value) in codes { #expect(code.rawValue == value) }
        #expect(codes.count == EntrupyErrorCode.allCases.count)
        #expect(EntrupyConfigType.ConfigTypeDebug.rawValue == 0 && EntrupyConfigType.ConfigTypeProduction.rawValue == 1)
    }

    @Test func resultsAndFlagsHaveTheVendorsIds() throws {
        let results: [(EntrupyCaptureResultStatusId, String)] = [
            (.authentic, "authentic"), (.unknown, "unknown"), (.not_supported, "not_supported"),
            (.needs_review, "needs_review"), (.invalid, "invalid"), (.analyzed, "analyzed"), (.match, "match"),
            (.no_match, "no_match"), (.registered, "registered"), (.canceled, "canceled"),
            (.data_required, "data_required"), (.not_available, "not_available"),
            (.registration_invalid, "registration_invalid"),
            (.registration_not_supported, "registration_not_supported"),
            (.match_found, "match_found"), (.no_match_found, "no_match_found"), (.received, "received"),
            (.other("new"), "new"),
        ]
        for (result, id) in results {
            #expect(
                EntrupyCaptureResultStatusId(rawValue: id, localizeValue: "Header") == result
                    && result.description == id)
            let json = try JSONEncoder().encode([result])
            #expect(try JSONDecoder().decode([EntrupyCaptureResultStatusId].self, from: json) == [result])
        }
        let flags: [(EntrupyFlagId, String)] = [
            (.none, "none"), (.flagged, "flagged"), (.resolved, "resolved"), (.other("new"), "new"),
        ]
        for (flag, id) in flags { #expect(EntrupyFlagId(rawValue: id) == flag && flag.description == id) }
        var flag = EntrupyCaptureResultStatusFlag(id: .none, is_flaggable: true)
        flag.toggle()
        #expect(flag.isFlagged && flag.id == .flagged)
        flag.toggle()
        #expect(!flag.isFlagged)
    }

    /// Calls nothing: it shows that the documents' calls compile. The flows are in `DocumentedFlowTests`.
    private func calls(_ delegate: TestApp, _ item: [AnyHashable: Any], _ controller: UIViewController) async throws {
        let sdk: EntrupyApp = EntrupyApp.sharedInstance()
        _ = EntrupyApp.shared
        let request: String = sdk.generateSDKAuthorizationRequest()
        sdk.loginUser(withSignedRequest: request)
        let isValid: Bool = sdk.isAuthorizationValid()
        if isValid { sdk.fetchConfigurationType(EntrupyConfigType.ConfigTypeProduction) }
        let input: Dictionary = ["brand": "Nike", "style_name": "Air Jordan 1", "us_size": "9.5"]
        sdk.startCapture(forItem: input, viewController: controller)
        sdk.startCapture(forItem: item, viewController: controller)
        let filter: [[String: Any]] = [["key": "properties.brand.id", "values": ["nike", "adidas"]]]
        let cursor: [AnyHashable]? = []
        sdk.searchSubmissions(at: cursor ?? [], filters: filter, startDate: 0, endDate: 0, paginationLimit: 20)
        let query = EntrupySearchQuery()
        query.dateRange = .last(days: 7)
        query.filters = [
            .status([.authentic, .underReview, .invalid, .notSupported, .unidentified, .other("x")]),
            .category([.luxury, .apparel, .sneakers, .other("x")]), .brands(["gucci"]),
            .flag([.none, .flagged, .resolved, .other("x")]),
        ]
        query.resultMode = .countOnly
        query.limit = 20
        query.cursor = nil
        sdk.searchAuthenticationItems(query: query) { (result: NSDictionary?, error: NSError?) in }
        sdk.getFlagDetailsForResult(withEntrupyID: "x") { (result: [AnyHashable: Any]?, error: (any Error)?) in }
        sdk.setFlag(true, forResultWithEntrupyID: "x")
        sdk.setFlag(true, forResultWithEntrupyID: "x", flagReasonId: "other", message: nil)
        sdk.searchRetakes()
        sdk.startRetakeCaptureForItem(withEntrupyID: "x")
        sdk.displayDetailViewForItem(
            withEntrupyID: "x",
            withConfiguration: EntrupyDetailViewConfiguration(
                displayTimeline: true, displayUploadedImages: true, enableFlagging: true, enableItemDetailEdit: false))
        sdk.displayFlagViewForItem(withEntrupyID: "x")
        sdk.displayMarketEdgeViewForItem(
            withEntrupyID: "x",
            withConfiguration: EntrupyMarketEdgeViewConfiguration(
                displayMarketGrade: true, displayMarketValue: true, displayMarketMatch: true,
                displayRegionSelection: true))
        sdk.fetchMarketEdgeForItem(withEntrupyID: "x")
        let details: EntrupyCaptureResult = try await sdk.fetchSessionDetails(entrupyId: "x")
        let display: String? = details.properties.brand.display["name"]
        _ = (display, details.status.result.display.reasons?.first?.text, details.more_details?.certificate.preview)
        let transfer: EntrupyCertTransferInfo? = details.transfer
        _ = (transfer?.isEligible, transfer?.status == .underReview, details.session_uuid)
        sdk.theme = Theme()
        sdk.cleanup()
    }

    @Test func theInboxOfTransfersFailsWithACode() async {
        let sdk = EntrupyApp.sharedInstance()
        for inbox in [
            { try await sdk.fetchTransferInbox() },
            { try await sdk.fetchTransferInbox(filters: [], startDate: 0, endDate: 0, cursor: nil, limit: nil) },
        ] {
            await #expect {
                _ = try await inbox()
            } throws: {
                ($0 as NSError).code == Int(EntrupyErrorCode.ErrorCodeSearchItemNotFound.rawValue)
            }
        }
        #expect(EntrupyTransferStatus(rawValue: "under_review").rawValue == "under_review")
        #expect(EntrupyTransferStatus(rawValue: "new") == .unknown)
    }

    private final class Theme: EntrupyTheme {
        var borderColor: UIColor? = UIColor.lightGray
        var backgroundColor: UIColor? = UIColor.white
        var foregroundColor: UIColor? = UIColor.black
    }

    #if !canImport(UIKit)
        @Test func theStandInsOfUIKitAreValues() {
            #expect(UIColor(white: 0.5, alpha: 1) == UIColor.gray && UIColor.gray != UIColor.lightGray)
            let font = UIFont(name: "Roboto-Medium", size: 20)
            #expect(font?.fontName == "Roboto-Medium" && font?.pointSize == 20 && UIFont(name: "", size: 20) == nil)
            #expect(UIFont.systemFont(ofSize: 12) == UIFont.systemFont(ofSize: 12))
            #expect(UIFont.systemFont(ofSize: 12) != UIFont.boldSystemFont(ofSize: 12))
            let picture = Data([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0])
            #expect(UIImage(data: picture)?.pngData() == picture)
            let photograph = UIImage(data: Data([0xff, 0xd8, 0xff, 0xe0]))
            #expect(photograph != nil && photograph?.pngData() == nil)
            #expect(UIImage(data: Data("text".utf8)) == nil && UIImage(data: Data()) == nil)
        }
    #endif

    @Test func backgroundEventsAreAnsweredOnTheMainQueue() async {
        await withCheckedContinuation { continuation in
            EntrupyApp.sharedInstance().interceptApplication(
                UIApplication.shared, handleEventsForBackgroundURLSession: "x"
            ) { continuation.resume() }
        }
    }

    /// The delegate protocols need nothing but the success callbacks; the others have defaults.
    private final class SmallDelegate: EntrupyLoginDelegate, EntrupyCaptureDelegate {
        func didLoginUserSuccessfully(_ expirationTime: TimeInterval) {}
        func didCaptureCompleteSuccessfully(_ result: [AnyHashable: Any], forItem item: [AnyHashable: Any]) {}
    }

    @Test func delegatesAreHeldWeakly() {
        let sdk = EntrupyApp.sharedInstance()
        do {
            let delegate = SmallDelegate()
            sdk.loginDelegate = delegate
            #expect(sdk.loginDelegate != nil)
        }
        #expect(sdk.loginDelegate == nil)
    }

    @Test(.entrupySim()) func programsWithoutARunLoopRunTheCallbacks() async throws {
        let namespace = try SimulatedNamespace.current
        await EntrupySimulation.isolated(baseURL: namespace.url) {
            let sdk = EntrupyApp.sharedInstance()
            let isDone = await MainActor.run {
                let seen = Seen()
                sdk.getFlagDetailsForResult(withEntrupyID: "x") { _, _ in seen.isDone = true }
                return EntrupySimulation.run(until: { seen.isDone }, timeout: 30)
            }
            #expect(isDone)
            #expect(!EntrupySimulation.run(until: { false }, timeout: 0.01))
        }
    }

    private final class Seen: @unchecked Sendable {
        var isDone = false
    }
}
