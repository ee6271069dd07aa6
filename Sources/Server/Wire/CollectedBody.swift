import HTTPTypes
import Hummingbird
import NIOCore

extension Response {
    func collectedBody() async -> ByteBuffer {
        let collected = Collector.Bytes()
        // A body that cannot be produced ends early for the client too; what there is of it counts.
        try? await body.write(Collector(bytes: collected))
        return collected.buffer
    }
}

private struct Collector: ResponseBodyWriter {
    final class Bytes {
        var buffer = ByteBuffer()
    }

    let bytes: Bytes

    mutating func write(_ buffer: ByteBuffer) async throws {
        if bytes.buffer.readableBytes == 0 {
            bytes.buffer = buffer
        } else {
            bytes.buffer.writeImmutableBuffer(buffer)
        }
    }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
}
