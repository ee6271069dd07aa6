#if canImport(UIKit) && !os(watchOS)
    @_exported import UIKit
#else
    import Foundation

    // The names of UIKit that the SDK's interface needs, where there is no UIKit. They show nothing.

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

        public override init() {}
    }

    extension UIApplication: @unchecked Sendable {}

    /// A stand-in for UIKit's colour: four components from 0 to 1.
    public final class UIColor: NSObject, Sendable {
        private let components: [Double]

        public init(red: Double, green: Double, blue: Double, alpha: Double) {
            components = [red, green, blue, alpha]
        }

        public convenience init(white: Double, alpha: Double) {
            self.init(red: white, green: white, blue: white, alpha: alpha)
        }

        public override func isEqual(_ object: Any?) -> Bool {
            (object as? UIColor)?.components == components
        }

        public override var hash: Int { components.hashValue }

        public static let black = UIColor(white: 0, alpha: 1)
        public static let darkGray = UIColor(white: 1.0 / 3, alpha: 1)
        public static let gray = UIColor(white: 0.5, alpha: 1)
        public static let lightGray = UIColor(white: 2.0 / 3, alpha: 1)
        public static let white = UIColor(white: 1, alpha: 1)
        public static let clear = UIColor(white: 0, alpha: 0)
        public static let red = UIColor(red: 1, green: 0, blue: 0, alpha: 1)
        public static let green = UIColor(red: 0, green: 1, blue: 0, alpha: 1)
        public static let blue = UIColor(red: 0, green: 0, blue: 1, alpha: 1)
        public static let yellow = UIColor(red: 1, green: 1, blue: 0, alpha: 1)
        public static let orange = UIColor(red: 1, green: 0.5, blue: 0, alpha: 1)
        public static let purple = UIColor(red: 0.5, green: 0, blue: 0.5, alpha: 1)
        public static let brown = UIColor(red: 0.6, green: 0.4, blue: 0.2, alpha: 1)
        public static let cyan = UIColor(red: 0, green: 1, blue: 1, alpha: 1)
        public static let magenta = UIColor(red: 1, green: 0, blue: 1, alpha: 1)
    }
#endif
