import Foundation
import Hashes
import SimulationAPI

/// A tar archive that tests can take apart and rebuild with errors.
package struct TarFile {
    package struct Entry {
        package var name: String
        package var bytes: Data
        package var type: Character

        package init(_ name: String, _ bytes: Data, type: Character = "0") {
            self.name = name
            self.bytes = bytes
            self.type = type
        }
    }

    package struct Broken: Error {}

    package var entries: [Entry] = []

    package init(entries: [Entry]) {
        self.entries = entries
    }

    package init(_ archive: Data) throws {
        var rest = Data(archive)[...]
        while let first = rest.first, first != 0 {
            let header = Data(rest.prefix(512))
            let size = Int(String(decoding: header[124..<135], as: UTF8.self), radix: 8)
            guard header.count == 512, let size, rest.count >= 512 + size else { throw Broken() }
            entries.append(
                Entry(
                    String(decoding: header.prefix(100).prefix { $0 != 0 }, as: UTF8.self),
                    Data(rest.dropFirst(512).prefix(size))))
            rest = rest.dropFirst(512 + (size + 511) / 512 * 512)
        }
    }

    /// Whether ``bytes`` have the checksum of the database as it is by then, so that a change is found in its rows.
    private var hasItsChecksum = false

    /// The archive, whose bytes have the checksum of its database however that is changed.
    package var withItsChecksum: TarFile {
        var file = self
        file.hasItsChecksum = true
        return file
    }

    /// The manifest with the checksum of the database.
    private var checksummed: Data {
        guard hasItsChecksum, let world = entries.first(where: { $0.name == "world.sqlite" }),
            // A manifest that is no JSON stays as it is.
            let manifest = try? WireJSON.decode(JSONValue.self, from: entries[0].bytes)
        else { return entries[0].bytes }
        let hash = SHA256.hash(data: world.bytes).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
        let changed = manifest.merging(.object(["world_sha256": .string(hash.joined())]))
        return (try? WireJSON.encode(changed)) ?? entries[0].bytes
    }

    package var bytes: Data {
        var archive = Data()
        var entries = entries
        if hasItsChecksum { entries[0].bytes = checksummed }
        for entry in entries {
            var header = Data(count: 512)
            func put(_ text: String, at offset: Int) {
                header.replaceSubrange(offset..<offset + text.utf8.count, with: text.utf8)
            }
            func octal(_ value: Int, _ width: Int) -> String {
                let digits = String(value, radix: 8)
                return String(repeating: "0", count: width - digits.count) + digits
            }
            put(entry.name, at: 0)
            put("0000644", at: 100)
            put(octal(entry.bytes.count, 11), at: 124)
            put("        ", at: 148)
            put(String(entry.type), at: 156)
            put("ustar\u{0}00", at: 257)
            put(octal(header.reduce(0) { $0 + Int($1) }, 6) + "\u{0} ", at: 148)
            archive += header + entry.bytes + Data(count: (512 - entry.bytes.count % 512) % 512)
        }
        return archive + Data(count: 1024)
    }

    /// The text of a file of the archive.
    package func text(of name: String) throws -> String {
        guard let entry = entries.first(where: { $0.name == name }) else { throw Broken() }
        return String(decoding: entry.bytes, as: UTF8.self)
    }
}
