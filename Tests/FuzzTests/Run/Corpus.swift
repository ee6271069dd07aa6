import Foundation

/// The inputs and tokens a target begins with: `corpus/NAME/*` and `dictionaries/NAME.dict`.
struct Corpus {
    /// In the order of their file names.
    let inputs: [(name: String, bytes: [UInt8])]
    let dictionary: [[UInt8]]

    /// Where this folder was when it was compiled.
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

    /// - Throws: an error of Foundation's if the target has no corpus.
    init(_ target: FuzzTarget, in folder: URL = Corpus.folder) throws {
        let files = folder.appendingPathComponent("corpus/\(target.name)")
        inputs = try FileManager.default.contentsOfDirectory(atPath: files.path).sorted().map { name in
            (name, Array(try Data(contentsOf: files.appendingPathComponent(name))))
        }
        let words = try? String(
            contentsOf: folder.appendingPathComponent("dictionaries/\(target.name).dict"), encoding: .utf8)
        // A token in quotes on each line, as libFuzzer has it.
        dictionary = (words ?? "").split(separator: "\n").compactMap { line in
            guard line.hasPrefix("\""), line.hasSuffix("\""), line.count > 1 else { return nil }
            return Array(line.dropFirst().dropLast().replacing("\\\"", with: "\"").replacing("\\\\", with: "\\").utf8)
        }
    }
}
