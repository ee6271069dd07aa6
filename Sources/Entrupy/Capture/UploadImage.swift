import EntrupyAPI
import EntrupyStorage
import Foundation
import Simulation
import SimulationAPI

/// `PUT /sdk/captures/{id}/images/{region_id}`.
package struct UploadImage: Operation, Writes {
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
        guard regionID.isOne(of: regions) else {
            throw PlatformError.notFound(
                "this capture has no region \(regionID); its regions are \(regions.joined(separator: ", "))",
                because: Because(
                    "the workflow of \(captureID) (\(capture.category), \(capture.configType)) has no region of this name",
                    captureID, [.captureStarted]))
        }
        try Captures.checkIsStarted(capture, job)
        let format = try image.format.get()
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
package enum FindImage: RuleByID, Reads {
    /// The media type; the bytes are in the image store.
    package static func perform(_ sha256: String, _ job: JobContext, as caller: Anyone) throws -> String {
        guard let type = try job.transaction.imageMediaType(sha256: sha256) else {
            throw PlatformError.notFound(
                "there is no image \"\(sha256.excerpt)\" in this namespace",
                because: "no capture and no component of the namespace has an image with this hash")
        }
        return type
    }
}
