import NIOCore

/// Limits for connections and request heads [D connections].
package struct ConnectionLimits: Sendable {
    /// The maximum number of open connections. Further ones wait until one is closed.
    package var connections = 10_000
    /// The maximum size of all header fields of a request together, in bytes. It also limits each single field.
    package var headerBytes = 64 * 1024
    /// The maximum number of header fields of a request.
    package var headerFields = 200
    /// The real time after which an idle connection is closed. It is longer than clients keep connections in a pool,
    /// so that no client sends a request on a connection that is just being closed.
    package var idle = Duration.seconds(300)

    /// The real time for which a client may go on sending after the last answer of a connection.
    package var lingering = Duration.seconds(30)

    package init() {}

    package var idleTimeout: TimeAmount { TimeAmount(idle) }
}
