import Foundation

// The vendor's names [P]. The values of the keys are ours, but for the ecode [D ended-sessions].

/// The notification that the platform does not accept the session's token any more: it has expired, was revoked, or is unknown.
///
/// Posted on the main queue, for a call with a delegate before the delegate is told, with the values of
/// ``KEntrupySessionGenerationUserInfoKey``, ``KEntrupySessionEndedStatusCodeUserInfoKey`` and
/// ``KEntrupySessionEndedEcodeUserInfoKey``. Each refused call posts one.
public let KEntrupySessionEndedNotification = "KEntrupySessionEndedNotification"

/// The ecode of an answer to a token that is not accepted.
public let KEntrupyInvalidSessionTokenEcode = "invalid_session_token"

/// The number of the login whose session the call used, an `NSNumber`. A later login has a larger one.
public let KEntrupySessionGenerationUserInfoKey = "KEntrupySessionGenerationUserInfoKey"

/// The key of `UserDefaults.standard` with the number of logins so far.
public let KEntrupySessionGenerationDefaultsKey = "KEntrupySessionGenerationDefaultsKey"

/// The HTTP status of the answer, an `NSNumber`: 401, or 403 if the platform's settings say so.
public let KEntrupySessionEndedStatusCodeUserInfoKey = "KEntrupySessionEndedStatusCodeUserInfoKey"

/// The answer's ecode, a `String`.
public let KEntrupySessionEndedEcodeUserInfoKey = "KEntrupySessionEndedEcodeUserInfoKey"

/// The number of logins, and the notification of a session's end.
enum SessionNotifications {
    private static let lock = NSLock()

    /// Counts a login and returns its number.
    static func countLogin() -> Int {
        lock.withLock {
            let number = UserDefaults.standard.integer(forKey: KEntrupySessionGenerationDefaultsKey) + 1
            UserDefaults.standard.set(number, forKey: KEntrupySessionGenerationDefaultsKey)
            return number
        }
    }

    /// Posts the notification, at once on the main queue, else later on it: an `await`ed call ends on another one.
    static func post(_ failure: SDKFailure, ofLogin number: Int) {
        guard CallbackQueue.main.isCurrent else { return CallbackQueue.main.append { post(failure, ofLogin: number) } }
        NotificationCenter.default.post(
            name: Notification.Name(KEntrupySessionEndedNotification), object: nil,
            userInfo: [
                KEntrupySessionGenerationUserInfoKey: NSNumber(value: number),
                KEntrupySessionEndedStatusCodeUserInfoKey: NSNumber(value: failure.status ?? 0),
                KEntrupySessionEndedEcodeUserInfoKey: KEntrupyInvalidSessionTokenEcode,
            ])
    }
}
