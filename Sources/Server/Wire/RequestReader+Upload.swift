import Entrupy
import Foundation
import Simulation

extension RequestReader {
    /// Answers the upload of an image or video. The media type is not checked.
    func upload<Op: Simulation.Operation, Format: FileFormat>(
        make: @Sendable @escaping (ReceivedFile<Format>) throws -> Op
    ) async -> Completed<Op.Output> {
        let environment = namespace.environment
        let input: Result<Op, PlatformError>
        var received: ReceivedFile<Format>?
        switch await bodies.read(request, upTo: ReceivedFile<Format>.limit, into: self.received) {
        case .failure(let error): input = .failure(error)
        case .success(let body):
            do {
                let content = try body.content.get()
                let digests = try headers.contentDigests()
                let image = try await environment.threads.runIfActive {
                    // The digest covers the bytes as they were sent (RFC 9530).
                    ReceivedFile<Format>(
                        Data(buffer: content), sent: body.isDecoded ? Data(buffer: body.sent) : nil, digests: digests,
                        store: environment.images)
                }
                received = image
                if image.differsFromDigest { self.received?.markWrongDigest() }
                input = .success(try make(image))
            } catch {
                input = .failure(error as? PlatformError ?? .unavailable("\(error)"))
            }
        }
        let completed = await namespace.answer(input, credential, head)
        if let received {
            let isKept = if case .success = completed.result { true } else { false }
            // The release runs even while the server is stopping. If it fails, the sweep at the next start cleans up.
            try? await environment.threads.runIfActive { received.release(isKept: isKept) }
        }
        return completed
    }
}
