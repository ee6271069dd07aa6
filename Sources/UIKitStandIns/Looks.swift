#if !canImport(UIKit)
    import Foundation

    /// A stand-in for UIKit's color: four components from 0 to 1.
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

    /// A stand-in for UIKit's font: a name and a size.
    public final class UIFont: NSObject, Sendable {
        public let fontName: String
        public let pointSize: Double

        /// The font with this name. Every name is known here, but an empty one.
        public init?(name: String, size: Double) {
            guard !name.isEmpty else { return nil }
            (fontName, pointSize) = (name, size)
        }

        private init(system name: String, size: Double) {
            (fontName, pointSize) = (name, size)
        }

        public static func systemFont(ofSize size: Double) -> UIFont { UIFont(system: ".System", size: size) }
        public static func boldSystemFont(ofSize size: Double) -> UIFont { UIFont(system: ".System-Bold", size: size) }

        public override func isEqual(_ object: Any?) -> Bool {
            guard let other = object as? UIFont else { return false }
            return other.fontName == fontName && other.pointSize == pointSize
        }

        public override var hash: Int { [fontName.hashValue, pointSize.hashValue].hashValue }
    }

    /// A stand-in for UIKit's image: the bytes of a PNG or JPEG file, which are not decoded.
    public final class UIImage: NSObject, Sendable {
        private let data: Data

        /// The image in a file's bytes; `nil` if they do not begin as a PNG or a JPEG file does.
        public init?(data: Data) {
            guard Self.isPNG(data) || data.starts(with: [0xff, 0xd8, 0xff]) else { return nil }
            self.data = data
        }

        /// The bytes of a PNG file; `nil` for a JPEG image, which is not converted.
        public func pngData() -> Data? { Self.isPNG(data) ? data : nil }

        private static func isPNG(_ data: Data) -> Bool {
            data.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
        }
    }
#endif
