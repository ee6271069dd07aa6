extension Sequence {
    /// Whether there are elements, and all of them satisfy a condition. A test that expects `allSatisfy` of a list which is empty by
    /// mistake cannot fail.
    package func someAndAll(_ isMeant: (Element) throws -> Bool) rethrows -> Bool {
        var isEmpty = true
        for element in self {
            guard try isMeant(element) else { return false }
            isEmpty = false
        }
        return !isEmpty
    }
}
