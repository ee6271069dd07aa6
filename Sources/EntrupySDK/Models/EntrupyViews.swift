import Foundation

/// The parts of the built-in view of an item's details. The simulated view shows none of them.
public class EntrupyDetailViewConfiguration: NSObject {
    public let displayTimeline: Bool
    public let displayUploadedImages: Bool
    public let enableFlagging: Bool
    public let enableItemDetailEdit: Bool

    public init(
        displayTimeline: Bool = false, displayUploadedImages: Bool = false, enableFlagging: Bool = false,
        enableItemDetailEdit: Bool = false
    ) {
        self.displayTimeline = displayTimeline
        self.displayUploadedImages = displayUploadedImages
        self.enableFlagging = enableFlagging
        self.enableItemDetailEdit = enableItemDetailEdit
    }
}

/// The parts of the built-in view of market data. The simulated view shows none of them.
public class EntrupyMarketEdgeViewConfiguration: NSObject {
    public let displayMarketGrade: Bool
    public let displayMarketValue: Bool
    public let displayMarketMatch: Bool
    public let displayRegionSelection: Bool

    public init(
        displayMarketGrade: Bool = true, displayMarketValue: Bool = true, displayMarketMatch: Bool = true,
        displayRegionSelection: Bool = true
    ) {
        self.displayMarketGrade = displayMarketGrade
        self.displayMarketValue = displayMarketValue
        self.displayMarketMatch = displayMarketMatch
        self.displayRegionSelection = displayRegionSelection
    }
}
