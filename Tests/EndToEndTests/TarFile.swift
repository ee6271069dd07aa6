import Foundation
import SimulationAPI
import TestSupport

/// A tar archive that tests can take apart and rebuild with errors.
struct TarFile {
    struct Entry {
        var name: String
        var bytes: Data
        var type: Character

        init(_ name: String, _ bytes: Data, type: Character = "0") {
            self.name = name
            self.bytes = bytes
            self.type = type
        }
    }

    struct Broken: Error {}

    var entries: [Entry] = []

    init(entries: [Entry]) {
        self.entries = entries
    }

    init(_ archive: Data) throws {
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

    /// A snapshot as an older version wrote it, without the checksum that detects every change.
    var withoutChecksum: TarFile {
        get throws {
            var file = self
            let manifest = try WireJSON.decode(JSONValue.self, from: entries[0].bytes)
            file.entries[0].bytes = try WireJSON.encode(manifest.merging(.object(["world_sha256": .null])))
            return file
        }
    }

    var bytes: Data {
        var archive = Data()
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
}
