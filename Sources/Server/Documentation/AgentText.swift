import Foundation
import NIOCore
import Resources

/// The guide for coding agents, in the format of <https://llmstxt.org>: `GET /_sim/llms.txt` and `entrupy-sim llms`.
public enum AgentText {
    /// The text in UTF-8.
    public static let bytes = Data(Resource.bytes("llms.txt"))

    static let document = ConstantDocument(ByteBuffer(bytes: bytes))
}

/// How far the simulator can be trusted, and every decision: `GET /_sim/fidelity.md`.
enum FidelityText {
    static let document = ConstantDocument(ByteBuffer(bytes: Data(Resource.bytes("docs/fidelity.md"))))
}
