import Foundation
import NIOCore

/// What a coding agent must know of the simulator, in the format of <https://llmstxt.org>: `GET /_sim/llms.txt` and `entrupy-sim llms`.
public enum AgentText {
    /// The text in UTF-8.
    public static let bytes = Data(PackageResources.llms_txt)

    static let document = ConstantDocument(ByteBuffer(bytes: bytes))
}
