/// An answer that has one item as its only member.
public struct ItemAnswer<Item: Codable & Sendable>: Codable, Sendable {
    public var item: Item

    public init(item: Item) {
        self.item = item
    }
}
