import Foundation

#if canImport(UIKit)
    import UIKit

    /// A color of the screens.
    public typealias OrcaColor = UIColor
#else
    /// A color of the screens, where there is no UIKit.
    public struct OrcaColor: Sendable, Equatable {
        public let red: Double
        public let green: Double
        public let blue: Double
        public let alpha: Double

        public init(red: Double, green: Double, blue: Double, alpha: Double) {
            self.red = red
            self.green = green
            self.blue = blue
            self.alpha = alpha
        }

        public static let gray = OrcaColor(red: 0.5, green: 0.5, blue: 0.5, alpha: 1)
    }
#endif

// The screens of components are not shown here, so what follows is taken and not used.

/// The look of the components' screens [S].
public struct OrcaFlavor: Sendable {
    public var colors = OrcaColors()

    public init(colors: OrcaColors = OrcaColors()) {
        self.colors = colors
    }
}

/// The basic colors [S].
public struct OrcaPalette: Sendable {
    public var primary: OrcaColor?

    public init() {}
}

/// The colors of the screens' parts, as far as the vendor's examples name them [S].
public struct OrcaColors: Sendable {
    public var palette: OrcaPalette
    public var hint = Hint()
    public var box = Box()
    public var screen = Screen()

    public init(colorPalette: OrcaPalette = OrcaPalette()) {
        palette = colorPalette
    }

    public struct Hint: Sendable {
        public var backgroundColor: OrcaColor?
    }

    public struct Box: Sendable {
        public var borderColor: OrcaColor?
    }

    public struct Screen: Sendable {
        public var tableCells = TableCells()
    }

    public struct TableCells: Sendable {
        public var cellStyle2 = CellStyle()
    }

    public struct CellStyle: Sendable {
        public var iconColor: OrcaColor?
    }
}

/// The customization of the Document Component [S].
public struct DocumentCustomizationConfig: Sendable {
    public var flavor: OrcaFlavor

    public init(flavor: OrcaFlavor) {
        self.flavor = flavor
    }
}

/// The customization of the Biometrics Component [S].
public struct SelfieCustomizationConfig: Sendable {
    public var flavor: OrcaFlavor

    public init(flavor: OrcaFlavor) {
        self.flavor = flavor
    }
}
