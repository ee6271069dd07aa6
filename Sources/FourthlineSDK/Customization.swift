// The vendor's examples import this module alone and use UIKit's names [S].
@_exported import UIKitStandIns

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
    public var primary: UIColor?

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
        public var backgroundColor: UIColor?
    }

    public struct Box: Sendable {
        public var borderColor: UIColor?
    }

    public struct Screen: Sendable {
        public var tableCells = TableCells()
    }

    public struct TableCells: Sendable {
        public var cellStyle2 = CellStyle()
    }

    public struct CellStyle: Sendable {
        public var iconColor: UIColor?
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
