import Hummingbird
import HummingbirdCore
import NIOCore

/// What a connection may cost the server [D].
package struct ConnectionLimits: Sendable {
    /// The most connections open at once; who comes then waits until one is closed.
    package var connections = 10_000
    /// The most bytes of all header fields of a request together, and of one of them.
    package var headerBytes = 64 * 1024
    /// The most header fields of a request.
    package var headerFields = 200
    /// Real time after which a connection is closed on which nothing happens: longer than clients keep theirs in a pool, so
    /// that none sends a request on one that is just being closed.
    package var idle = Duration.seconds(300)

    package init() {}

    var decoder: HTTP1Channel.Configuration.DecoderConfiguration {
        .init(maxHeaderFieldSize: headerBytes, maxHeaderListSize: headerBytes, maxHeaderFieldCount: headerFields)
    }

    var idleTimeout: TimeAmount { TimeAmount(idle) }
}
