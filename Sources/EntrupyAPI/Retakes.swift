import SimulationAPI

/// An item with an open retake: the item's members, and `retake` beside them.
public struct ItemToRetake: Codable, Sendable {
    public var item: EntrupyCaptureResult
    public var retake: Retake

    public init(item: EntrupyCaptureResult, retake: Retake) {
        self.item = item
        self.retake = retake
    }

    private enum Key: String, CodingKey {
        case retake
    }

    public init(from decoder: any Decoder) throws {
        item = try EntrupyCaptureResult(from: decoder)
        retake = try decoder.container(keyedBy: Key.self).decode(Retake.self, forKey: .retake)
    }

    public func encode(to encoder: any Encoder) throws {
        try item.encode(to: encoder)
        var members = encoder.container(keyedBy: Key.self)
        try members.encode(retake, forKey: .retake)
    }
}
