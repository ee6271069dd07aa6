import Resources

/// The files that pages load, which are part of the binary.
package enum ConsoleAsset: String, CaseIterable, Sendable {
    case style = "console.css"
    case script = "console.js"
    case icon = "icon.svg"

    package var mediaType: String {
        switch self {
        case .style: "text/css; charset=utf-8"
        case .script: "text/javascript; charset=utf-8"
        case .icon: "image/svg+xml"
        }
    }

    package var bytes: [UInt8] {
        self == .icon ? Array(Self.drawing.utf8) : Array(Resource.bytes("console/\(rawValue)"))
    }

    private static let drawing =
        ##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><path fill="#2f62d9" d="M12 2 3 7v10l9 5 9-5V7zm0 2.3 6.6 3.7L12 11.6 5.4 8zM5 9.7l6 3.4v6.6l-6-3.4zm8 10V13l6-3.4v6.7z"/></svg>"##
}
