import CResources
import Foundation

/// The files that the program holds. `scripts/generate` lists them.
package enum Resource {
    /// The bytes of a file, which live as long as the process.
    ///
    /// - Precondition: there is such a file.
    package static func bytes(_ name: String) -> UnsafeBufferPointer<UInt8> {
        var next = entrupy_sim_resources()
        while let file = next?.pointee, let known = file.name {
            if strcmp(known, name) == 0 { return bytes(file) }
            next = next?.advanced(by: 1)
        }
        preconditionFailure("no resource \(name)")
    }

    /// The text of a file.
    ///
    /// - Precondition: there is such a file.
    package static func text(_ name: String) -> String { String(decoding: bytes(name), as: UTF8.self) }

    /// The texts of all files of a folder, by name without the ending.
    package static func texts(in folder: String, ending: String) -> [String: String] {
        var texts: [String: String] = [:]
        var next = entrupy_sim_resources()
        while let file = next?.pointee, let known = file.name {
            let name = String(cString: known)
            if name.hasPrefix(folder + "/"), name.hasSuffix(ending) {
                texts[String(name.dropFirst(folder.count + 1).dropLast(ending.count))] =
                    String(decoding: bytes(file), as: UTF8.self)
            }
            next = next?.advanced(by: 1)
        }
        return texts
    }

    private static func bytes(_ file: entrupy_sim_resource) -> UnsafeBufferPointer<UInt8> {
        let count = file.bytes.map { strlen(UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self)) }
        return UnsafeBufferPointer(start: file.bytes, count: count ?? 0)
    }
}
