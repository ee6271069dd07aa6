import SimulationAPI

extension AuthenticationSummary {
    /// A picture of a list.
    public struct Thumbnail: Codable, Sendable {
        /// The URL of the picture, which is the original.
        public var url: String
        /// The size of the file in bytes.
        public var bytes: Int

        public init(url: String, bytes: Int) {
            self.url = url
            self.bytes = bytes
        }
    }
}
