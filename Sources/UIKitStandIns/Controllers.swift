// UIKit of watchOS has none of these.
#if !canImport(UIKit) || os(watchOS)
    import Foundation

    /// A stand-in for UIKit's view controller, which presents nothing.
    open class UIViewController: NSObject {
        open var title: String?

        public override init() {}

        public init(nibName: String?, bundle: Bundle?) {}

        open func viewDidLoad() {}
        open func viewWillAppear(_ animated: Bool) {}
        open func viewDidAppear(_ animated: Bool) {}
        open func viewWillDisappear(_ animated: Bool) {}
        open func viewDidDisappear(_ animated: Bool) {}

        /// Presents nothing, and calls `completion` at once.
        open func present(_ controller: UIViewController, animated: Bool, completion: (() -> Void)? = nil) {
            completion?()
        }

        /// Dismisses nothing, and calls `completion` at once.
        open func dismiss(animated: Bool, completion: (() -> Void)? = nil) {
            completion?()
        }
    }

    /// A stand-in for UIKit's application object.
    open class UIApplication: NSObject {
        /// The application of this process.
        public static let shared = UIApplication()

        /// One scene with one window, so that an app that looks for a controller to present from finds one.
        public let connectedScenes: Set<UIScene> = [UIWindowScene()]
    }

    extension UIApplication: @unchecked Sendable {}

    /// A stand-in for UIKit's scene.
    open class UIScene: NSObject {}

    /// A stand-in for UIKit's scene of windows.
    open class UIWindowScene: UIScene {
        /// One window.
        public let windows = [UIWindow()]
    }

    /// A stand-in for UIKit's window.
    open class UIWindow: NSObject {
        open var rootViewController: UIViewController? = UIViewController()
    }
#endif
