/// A use of a namespace that lasts as long as this exists, for instance until the body of an answer was sent. The namespace
/// does not expire meanwhile.
package final class NamespaceUse: Sendable {
    private let namespace: Namespace

    /// - Parameter namespace: a namespace in use.
    package init(_ namespace: Namespace) {
        self.namespace = namespace
        namespace.beginUse()
    }

    deinit { namespace.endUse() }
}
