import Foundation

/// The first inputs and the tokens of a target: `corpus/NAME/*` and `dictionaries/NAME.dict`.
struct Corpus {
    /// The inputs, ordered by file name.
    let inputs: [(name: String, bytes: [UInt8])]
    let dictionary: [[UInt8]]

    /// The path of this folder when it was compiled.
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

    /// - Throws: a Foundation error if the target has no corpus.
    init(_ target: FuzzTarget, in folder: URL = Corpus.folder) throws {
        let files = folder.appendingPathComponent("corpus/\(target.name)")
        inputs = try FileManager.default.contentsOfDirectory(atPath: files.path).sorted().map { name in
            (name, Array(try Data(contentsOf: files.appendingPathComponent(name))))
        }
        let words = try? String(
            contentsOf: folder.appendingPathComponent("dictionaries/\(target.name).dict"), encoding: .utf8)
        // libFuzzer's format: one quoted token per line.
        dictionary = (words ?? "").split(separator: "\n").compactMap { line in
            guard line.hasPrefix("\""), line.hasSuffix("\""), line.count > 1 else { return nil }
            return Array(line.dropFirst().dropLast().replacing("\\\"", with: "\"").replacing("\\\\", with: "\\").utf8)
        }
    }
}
