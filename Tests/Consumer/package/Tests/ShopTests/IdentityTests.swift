import EntrupySDK
import FourthlineSDK
import Identity
import Testing

/// A file that imports both modules: every name of UIKit is one for both.
@Suite struct IdentityTests {
    private final class Theme: EntrupyTheme {
        var backgroundColor: UIColor? = UIColor.white
        var foregroundColor: UIColor? = UIColor.black
        var borderColor: UIColor? = UIColor(red: 0.25, green: 0.5, blue: 0.75, alpha: 1)
    }

    @Test @MainActor func aPersonIsVerifiedInTheColorsOfTheOtherModule() async {
        let controller = IdentityController()
        controller.color = Theme().borderColor
        let isVerified = await withCheckedContinuation { continuation in
            controller.onEnd = { continuation.resume(returning: $0) }
            controller.viewDidLoad()
        }
        #expect(isVerified)
    }
}
