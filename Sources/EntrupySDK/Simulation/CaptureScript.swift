import Foundation

extension EntrupySimulation {
    /// The person's part in a capture.
    public enum CaptureScript: Sendable {
        /// Takes every picture and submits them.
        case submit(images: Images = .made)
        /// Leaves the capture.
        case cancel
        /// Never submits: the namespace's clock is advanced to the capture's end, two hours after its start [S]. Everything else
        /// that is due until then happens too.
        case timeout
        /// Puts the phone away: the capture stays open, and times out once the namespace's clock has passed the two hours.
        case leaveOpen
        /// Refuses the camera. No capture is started.
        case denyCamera
        /// Loses the connection after so many pictures: 0 before the first. The capture stays open on the platform.
        case loseConnection(afterImage: Int)
        /// Submits, and support asks for new pictures at once.
        ///
        /// - Parameter regions: the ids of the regions; `nil` for all that the workflow requires.
        case retake(regions: [String]? = nil, message: String? = nil, images: Images = .made)
    }

    /// The person's part in the built-in view that flags a result.
    public enum FlagViewScript: Sendable {
        /// Chooses a reason and submits.
        ///
        /// - Parameter reasonID: the id of the reason; `nil` for the first one.
        case submit(reasonID: String? = nil, message: String? = nil)
        /// Closes the view.
        case cancel
    }

    /// The pictures of a capture.
    public enum Images: Sendable, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
        /// A small PNG for each region, made by this module.
        case made
        /// Files in the order of the capture's steps, by path. Steps beyond them get a picture that is made.
        case files([String])
        /// Files by region id. Other regions get a picture that is made.
        case regions([String: String])

        public init(arrayLiteral files: String...) {
            self = .files(files)
        }

        public init(dictionaryLiteral regions: (String, String)...) {
            self = .regions(Dictionary(regions) { $1 })
        }
    }
}

extension EntrupySimulation.CaptureScript {
    /// Throws ``SDKFailure`` if the script names a picture that cannot be read.
    func checkPictures() throws {
        switch self {
        case .submit(.files(let files)), .retake(_, _, .files(let files)):
            for file in files { _ = try EntrupySimulation.Images.read(file) }
        case .submit(.regions(let files)), .retake(_, _, .regions(let files)):
            for file in files.values { _ = try EntrupySimulation.Images.read(file) }
        default: break
        }
    }
}

extension EntrupySimulation.Images {
    fileprivate static func read(_ path: String) throws -> Data {
        guard let bytes = FileManager.default.contents(atPath: path) else {
            throw SDKFailure(
                .ErrorCodeImageUploadError,
                "the script names the picture \(path), which cannot be read: give the path of a JPEG, PNG or HEIC file")
        }
        return bytes
    }

    /// The pictures for a capture's regions, in order.
    ///
    /// - Throws: ``SDKFailure`` if a file cannot be read, or the capture does not ask for it.
    func pictures(for regions: [String]) throws -> [(region: String, bytes: Data, type: String)] {
        var paths: [String: String] = [:]
        switch self {
        case .made: break
        case .files(let files):
            guard files.count <= regions.count else {
                throw SDKFailure(
                    .ErrorCodeBadRequest,
                    "the script has \(files.count) pictures, the capture asks for \(regions.count): "
                        + regions.joined(separator: ", "))
            }
            paths = Dictionary(uniqueKeysWithValues: zip(regions, files))
        case .regions(let files):
            if let unknown = files.keys.sorted().first(where: { !regions.contains($0) }) {
                throw SDKFailure(
                    .ErrorCodeBadRequest,
                    "the script has a picture of the region \(unknown), the capture asks for: "
                        + regions.joined(separator: ", "))
            }
            paths = files
        }
        return try regions.map { region in
            guard let path = paths[region] else { return (region, PlaceholderImage.png(of: region), "image/png") }
            return (region, try Self.read(path), "application/octet-stream")
        }
    }
}
