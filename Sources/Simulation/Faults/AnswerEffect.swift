import Foundation

/// The effect of a fault on an answer. The server carries it out when it sends the answer.
package struct AnswerEffect: Sendable {
    /// The delay of the answer, in seconds of real time; `nil` if it has none.
    package var delay: Double?
    /// Whether the connection is reset after the request was handled.
    var dropsConnection = false
    /// Whether the connection is reset before the request is handled.
    var losesRequest = false
    /// Makes the body that is sent of the answer's own; `nil` if that is sent.
    package var rewrite: (@Sendable (_ body: Data) -> Data)?
    /// The number of bytes of the body that are sent; `nil` for all.
    package var maxBytes: Int?
    /// The number of bytes of the body that are sent a second; `nil` if the connection decides.
    package var bytesPerSecond: Int?
    /// The way in which the request, or its answer, is to be held. The request of a resend is not.
    var hold: Hold?
    /// The request while it is held, and afterwards.
    package var held: HeldRequest?

    /// Whether the request is not handled, and its client gets no answer.
    var isLost: Bool { losesRequest || held?.isLost ?? false }
    /// Whether the connection is reset instead of sending the answer.
    package var losesAnswer: Bool { losesRequest || dropsConnection || held?.losesAnswer ?? false }
    /// Whether the client lacks a part of an answer of `length` bytes, or of any if that is not known.
    package func loses(_ length: Int?, isHead: Bool) -> Bool {
        losesAnswer || !isHead && maxBytes.map { $0 < length ?? .max } ?? false
    }
}
