import Foundation
import Hashes
import Storage

/// A format of files that is recognised by its structure.
package protocol FileFormat: Sendable {
    /// The format of a complete file, or the problem with its bytes.
    static func recognise(_ bytes: UnsafeRawBufferPointer) -> Result<Self, ImageProblem>
}

package typealias ReceivedImage = ReceivedFile<ImageFormat>
package typealias ReceivedVideo = ReceivedFile<VideoFormat>

/// A received image or video: its format if it was recognised and stored, or its problem.
///
/// A stored file is held until ``release(isKept:)``, so that a refused upload leaves no file.
package struct ReceivedFile<Format: FileFormat>: Sendable {
    package let bytes: Int
    package let sha256: String
    package let format: Result<Format, PlatformError>
    /// Whether the file is valid but does not match `Content-Digest`.
    package let differsFromDigest: Bool
    private let store: ImageStore

    /// The largest file, in bytes.
    package static var limit: Int { 20_000_000 }

    /// Checks and stores a file, before the job that refers to it. Blocks.
    ///
    /// A broken file does not throw. It is answered in the usual order of checks, after the state of what it belongs to.
    ///
    /// - Parameters:
    ///   - sent: the bytes as they were sent; `nil` if they are the file itself.
    ///   - digests: the checksums that `Content-Digest` gives for those bytes.
    package init(_ data: Data, sent: Data? = nil, digests: [ContentDigest], store: ImageStore) {
        self.store = store
        bytes = data.count
        let hash = SHA256.hash(data: data)
        sha256 = Hex.string(hash)
        let recognised = data.withUnsafeBytes(Format.recognise)
        // Hashed once: the header may name a checksum many times.
        let hash256 = Data(sent.map { SHA256.hash(data: $0) } ?? hash)
        let hash512 = digests.contains { $0.algorithm == .sha512 } ? Data(SHA512.hash(data: sent ?? data)) : Data()
        let wrong = digests.first { $0.digest != ($0.algorithm == .sha256 ? hash256 : hash512) }
        switch (recognised, wrong) {
        case (.failure(let problem), _):
            differsFromDigest = false
            self.format = .failure(.imageRejected(problem.text))
        case (.success, let wrong?):
            differsFromDigest = true
            self.format = .failure(
                .imageRejected("the file's \(wrong.algorithm.rawValue) differs from Content-Digest"))
        case (.success(let format), nil):
            differsFromDigest = false
            do {
                try store.hold(data, sha256: sha256)
                self.format = .success(format)
            } catch {
                self.format = .failure(.unavailable("\(error)"))
            }
        }
    }

    /// Ends the hold on a stored file. Blocks.
    ///
    /// - Parameter isKept: whether a namespace now refers to it.
    package func release(isKept: Bool) {
        guard case .success = format else { return }
        store.release(sha256: sha256, isKept: isKept)
    }
}

/// A checksum from a `Content-Digest` header (RFC 9530).
package struct ContentDigest: Sendable {
    /// The algorithms that the server checks. Others are ignored, as the standard allows.
    package enum Algorithm: String, Sendable {
        case sha256 = "sha-256"
        case sha512 = "sha-512"
    }

    package let algorithm: Algorithm
    package let digest: Data

    package init(algorithm: Algorithm, digest: Data) {
        self.algorithm = algorithm
        self.digest = digest
    }
}
