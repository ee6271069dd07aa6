import HTTPTypes
import Hummingbird
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import TestSupport
import Testing

@testable import Server

@Suite struct PiecedBodyTests {
    /// Takes pieces one at a time, as a slow client does.
    private struct Taker: ResponseBodyWriter {
        let pieces: NIOLockedValueBox<[ByteBuffer]>
        let reads: NIOLockedValueBox<Int>

        mutating func write(_ buffer: ByteBuffer) async throws {
            let count = pieces.withLockedValue { pieces in
                pieces.append(buffer)
                return pieces.count
            }
            #expect(reads.withLockedValue { $0 } == count, "nothing is read before it can be sent")
        }

        consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
    }

    @Test(arguments: [1, ResponseBody.pieceBytes, ResponseBody.pieceBytes + 1, 3 * ResponseBody.pieceBytes - 1])
    func aBodyIsReadWhileItIsSent(size: Int) async throws {
        let whole = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let (pieces, reads) = (NIOLockedValueBox<[ByteBuffer]>([]), NIOLockedValueBox(0))
        let body = ResponseBody.pieces(size: size, on: NIOThreadPool.singleton) { bytes, offset in
            reads.withLockedValue { $0 += 1 }
            bytes.copyBytes(from: whole[offset...].prefix(bytes.count))
            return min(bytes.count, size - offset)
        }
        #expect(body.contentLength == size)
        try await body.write(Taker(pieces: pieces, reads: reads))
        let written = pieces.withLockedValue { $0 }
        #expect(written.someAndAll { $0.readableBytes <= ResponseBody.pieceBytes })
        #expect(written.flatMap { Array($0.readableBytesView) } == whole)
    }

    /// The head has announced more, so the answer must not look complete.
    @Test func aFileThatBecameShorterBreaksTheAnswerOff() async throws {
        let body = ResponseBody.pieces(size: 100, on: NIOThreadPool.singleton) { _, offset in offset == 0 ? 60 : 0 }
        let taker = Taker(pieces: NIOLockedValueBox([]), reads: NIOLockedValueBox(1))
        await #expect(throws: IOError.self) { try await body.write(taker) }
    }
}
