import Crypto
import EntrupyAPI
import EntrupyStorage
import Foundation
import SimulationAPI
import Storage

/// A received image: its format if it was recognised and stored, or its problem.
///
/// A stored image is held until ``release(isKept:)``, so that a refused upload leaves no file.
package struct ReceivedImage: Sendable {
    let bytes: Int
    let sha256: String
    let outcome: Result<ImageFormat, PlatformError>
    /// Whether the image is valid but does not match `Content-Digest`.
    package let differsFromDigest: Bool
    private let store: ImageStore

    /// The largest image, in bytes.
    package static let limit = 20_000_000

    /// Checks and stores an image, before the job that refers to it. Blocks.
    ///
    /// A broken image does not throw. It is answered in the usual order of checks, after the capture's state.
    ///
    /// - Parameters:
    ///   - sent: the bytes as they were sent; `nil` if they are the image itself.
    ///   - digests: the checksums that `Content-Digest` gives for those bytes.
    package init(_ data: Data, sent: Data? = nil, digests: [ContentDigest], store: ImageStore) {
        self.store = store
        bytes = data.count
        let hash = SHA256.hash(data: data)
        sha256 = Hex.string(hash)
        let recognised = data.withUnsafeBytes(ImageFormat.recognise)
        let sentHash = sent.map { SHA256.hash(data: $0) } ?? hash
        let wrong = digests.first { !$0.matches(sent ?? data, sha256: Data(sentHash)) }
        switch recognised {
        case .failure(let problem):
            differsFromDigest = false
            outcome = .failure(.imageRejected(problem.text))
        case .success(let format):
            differsFromDigest = wrong != nil
            if let wrong {
                outcome = .failure(
                    .imageRejected("the image's \(wrong.algorithm.rawValue) differs from Content-Digest"))
                return
            }
            do {
                try store.hold(data, sha256: sha256)
                outcome = .success(format)
            } catch {
                outcome = .failure(.unavailable("\(error)"))
            }
        }
    }
}

extension ReceivedImage {
    /// Ends the hold on a stored image. Blocks.
    ///
    /// - Parameter isKept: whether a capture now refers to it.
    package func release(isKept: Bool) {
        guard case .success = outcome else { return }
        store.release(sha256: sha256, isKept: isKept)
    }
}

/// A checksum from a `Content-Digest` header (RFC 9530).
package struct ContentDigest: Sendable {
    package enum Algorithm: String, Sendable {
        case sha256 = "sha-256"
        case sha512 = "sha-512"
    }

    let algorithm: Algorithm
    let digest: Data

    package init(algorithm: Algorithm, digest: Data) {
        self.algorithm = algorithm
        self.digest = digest
    }

    func matches(_ data: Data, sha256: Data) -> Bool {
        switch algorithm {
        case .sha256: digest == sha256
        case .sha512: digest == Data(SHA512.hash(data: data))
        }
    }
}

/// `PUT /sdk/captures/{id}/images/{region_id}`.
package struct UploadImage: Operation {
    package static let access = Access.writes
    let captureID: String
    let regionID: String
    let image: ReceivedImage

    package init(captureID: String, regionID: String, image: ReceivedImage) {
        self.captureID = captureID
        self.regionID = regionID
        self.image = image
    }

    package func perform(_ job: JobContext, as user: SDKUser) throws -> ImageReceipt {
        let capture = try Captures.find(captureID, of: user, job)
        let regions = try Captures.steps(capture, job).map(\.regionID)
        guard regions.contains(where: { $0.isIdentical(to: regionID) }) else {
            throw PlatformError.notFound(
                "this capture has no region \(regionID); its regions are \(regions.joined(separator: ", "))")
        }
        try Captures.mustBeStarted(capture)
        let format = try image.outcome.get()
        let replaced = try job.transaction.putCaptureImage(
            CaptureImageRecord(
                captureID: captureID, regionID: regionID, sha256: image.sha256, bytes: image.bytes,
                mediaType: format.rawValue, uploadedAt: job.now))
        job.state.refer(to: image.sha256)
        job.state.releaseImages([replaced].compactMap(\.self))
        try job.record(.imageUploaded, captureID, ["region_id": .string(regionID), "sha256": .string(image.sha256)])
        return ImageReceipt(region_id: regionID, bytes: image.bytes, sha256: image.sha256)
    }
}

/// `GET /images/{sha256}/original|scale_micro`: the media type of an image of this namespace.
package struct FindImage: Operation {
    package static let access = Access.reads
    let sha256: String

    package init(sha256: String) {
        self.sha256 = sha256
    }

    /// The media type; the bytes are in the image store.
    package func perform(_ job: JobContext, as caller: Anyone) throws -> String {
        guard let type = try job.transaction.imageMediaType(sha256: sha256) else {
            throw PlatformError.notFound("no such image")
        }
        return type
    }
}
