import ClientTransport
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// An error as the delegates get it: the vendor's code, a description for developers, and one for users.
struct SDKFailure: Error, Sendable {
    var code: EntrupyErrorCode
    /// The problem and the way out, in English.
    var description: String
    /// The HTTP status; `nil` if there was no answer.
    var status: Int?
    /// The name of the error in the answer's envelope; `nil` without one.
    var name: String?
    /// Whether it is the answer to a login.
    var isOfLogin = false
    /// Whether the answer says that it is about the session's token, which it may with other statuses than 401 [P].
    var isAboutSession = false

    init(_ code: EntrupyErrorCode, _ description: String, status: Int? = nil, name: String? = nil) {
        self.code = code
        self.description = description
        self.status = status
        self.name = name
    }

    /// Whether the answer says that the capture's two hours are over.
    var isCaptureTimeout: Bool { status == 410 && name == "capture_timed_out" }
}

// [D client-errors]
extension SDKFailure {
    /// An error answer.
    ///
    /// - Parameters:
    ///   - body: the error envelope. Any other body is described by its beginning.
    ///   - address: the base URL, for the text.
    init(status: Int, body: Data, address: String, isOfLogin: Bool) {
        // Without an envelope the failure is told by its status.
        let envelope = (try? JSONSerialization.jsonObject(with: body)) as? [String: Any]
        let name = envelope?["code"] as? String
        let details = (envelope?["details"] as? [[String: Any]] ?? []).compactMap { $0["problem"] as? String }
        var text = envelope?["error"] as? String ?? "the server answered \(status) without an error envelope"
        // The envelope's sentence often says it already.
        let more = name == "unknown_namespace" ? [] : details.filter { !text.contains($0) }
        if !more.isEmpty { text += " (" + more.prefix(3).joined(separator: "; ") + ")" }
        switch name {
        case "unknown_namespace":
            text += ". Create the namespace again, or check EntrupySimulation.namespace; the address is \(address)"
        case "unknown_route":
            text +=
                ". This EntrupySDK needs entrupy-sim \(EntrupySimulation.platformVersion) or later at \(address); "
                + "`entrupy-sim --version` shows which one runs"
        default: break
        }
        let sdkError = envelope?["sdk_error"] as? String
        let named = sdkError.flatMap { name in
            EntrupyErrorCode.allCases.first { "\($0)".utf8.elementsEqual(name.utf8) }
        }
        self.init(named ?? EntrupyErrorCode(status: status), text, status: status, name: name)
        self.isOfLogin = isOfLogin
        isAboutSession = envelope?["ecode"] as? String == KEntrupyInvalidSessionTokenEcode
    }

    /// A request without an answer.
    init(_ error: any Error, address: String) {
        if let refused = error as? RefusedAnswer {
            switch refused {
            // The app's limit is for the whole request, whether or not its answer had begun.
            case .silent(let seconds, _), .late(let seconds):
                let text = RefusedAnswer.late(seconds).description(of: address)
                self.init(.ErrorCodeRequestTimeoutError, "\(text) (EntrupySimulation.requestTimeout)")
            case .tooLong, .redirected:
                self.init(.ErrorCodeUnknownError, refused.description(of: address))
            }
            return
        }
        let code = (error as? URLError)?.code ?? URLError.Code(rawValue: (error as NSError).code)
        switch code {
        case .timedOut:
            self.init(.ErrorCodeRequestTimeoutError, "the connection to \(address) took too long")
        case .cannotConnectToHost, .cannotFindHost, .dnsLookupFailed, .notConnectedToInternet:
            self.init(
                .ErrorCodeOfflineAccess,
                "no server answers at \(address): start one with `entrupy-sim serve`, or set EntrupySimulation.baseURL or "
                    + "ENTRUPY_SIM_URL to its address")
        case .networkConnectionLost:
            self.init(.ErrorCodeOfflineAccess, "the connection to \(address) was lost before the answer was complete")
        case .unsupportedURL, .badURL:
            self.init(
                .ErrorCodeBadRequest,
                "\(address) is not an http or https URL: set EntrupySimulation.baseURL or ENTRUPY_SIM_URL")
        case .cannotParseResponse, .badServerResponse, .zeroByteResource, .cannotDecodeRawData,
            .cannotDecodeContentData:
            self.init(.ErrorCodeUnknownError, "the answer of \(address) is not valid HTTP")
        default:
            self.init(.ErrorCodeUnknownError, "the request to \(address) failed: \(error.localizedDescription)")
        }
    }
}

extension EntrupyErrorCode {
    /// The code of an answer that does not name one.
    init(status: Int) {
        switch status {
        case 401: self = .ErrorCodeUnauthorizedAccess
        case 403: self = .ErrorCodeForbiddenError
        case 404: self = .ErrorCodeSearchItemNotFound
        case 408: self = .ErrorCodeRequestTimeoutError
        case 422: self = .ErrorCodeImageUploadError
        case 429: self = .ErrorCodeTooManyRequests
        case 504: self = .ErrorCodeServerTimeoutError
        case 400..<500: self = .ErrorCodeBadRequest
        case 500..<600: self = .ErrorCodeInternalServerError
        default: self = .ErrorCodeUnknownError
        }
    }

    /// A sentence for users, in English or Japanese.
    func text(in language: String?) -> String {
        let (english, japanese) = texts
        return language?.lowercased().hasPrefix("ja") ?? false ? japanese : english
    }

    private var texts: (english: String, japanese: String) {
        switch self {
        case .ErrorCodeOfflineAccess: ("The internet connection appears to be offline.", "インターネットに接続できません。")
        case .ErrorCodeBadRequest: ("The request is not valid.", "リクエストが正しくありません。")
        case .ErrorCodeUnauthorizedAccess: ("Please log in.", "ログインしてください。")
        case .ErrorCodeForbiddenError: ("You are not allowed to do this.", "この操作は許可されていません。")
        case .ErrorCodeInternalServerError:
            ("The server has a problem. Please try again later.", "サーバーでエラーが発生しました。")
        case .ErrorCodeRequestTimeoutError:
            ("The request took too long. Please try again.", "リクエストがタイムアウトしました。")
        case .ErrorCodeServerTimeoutError:
            ("The server took too long to answer. Please try again.", "サーバーが応答しません。")
        case .ErrorCodeTooManyRequests:
            ("Too many requests. Please wait a moment and try again.", "リクエストが多すぎます。しばらくお待ちください。")
        case .ErrorCodeImageUploadError:
            ("The photos could not be uploaded. Please try again.", "画像をアップロードできませんでした。")
        case .ErrorCodeUserDeniedPermissions:
            ("Camera access is needed to photograph the item.", "カメラの使用が許可されていません。")
        case .ErrorCodeUnknownError: ("Something went wrong. Please try again.", "不明なエラーが発生しました。")
        case .ErrorCodeSearchItemNotFound: ("Not found.", "見つかりません。")
        case .ErrorCodeSearchItemFound: ("The item exists already.", "アイテムはすでに存在します。")
        }
    }
}
