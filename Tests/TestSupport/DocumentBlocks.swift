import Foundation

/// A fenced block of a document, with the mark before it if there is one.
public struct DocumentBlock: Sendable {
    public let document: String
    /// The line of the opening fence, from 1.
    public let line: Int
    /// The first word after the fence; empty if there is none.
    public let language: String
    public let text: String
    /// The reason of the mark `<!-- not run: reason -->` in the line before the fence; `nil` without a mark.
    public let notRun: String?

    public var place: String { "\(document):\(line)" }
    public var isShell: Bool { ["sh", "bash", "zsh", "shell", "console"].contains(language) }
}

/// The blocks and marks of the documents that readers paste from.
public struct DocumentBlocks: Sendable {
    public let blocks: [DocumentBlock]
    /// The places of marks that are not directly before a shell block, or have no reason.
    public let strayMarks: [String]

    /// Reads a document. Fences are lines of three or more backticks or tildes, at any indentation.
    public init(_ document: String, _ text: String) {
        var blocks: [DocumentBlock] = []
        var stray: [String] = []
        var mark: (line: Int, reason: String)?
        var open: (fence: Substring, line: Int, language: String, lines: [Substring], notRun: String?)?
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if var block = open {
                let trimmed = line.trimmingCharacters(in: .whitespaces)
                if trimmed.hasPrefix(block.fence), trimmed.allSatisfy({ $0 == block.fence.first }) {
                    blocks.append(
                        DocumentBlock(
                            document: document, line: block.line, language: block.language,
                            text: block.lines.joined(separator: "\n"), notRun: block.notRun))
                    open = nil
                } else {
                    block.lines.append(line)
                    open = block
                }
                continue
            }
            let before = mark
            mark = nil
            if let fence = line.firstMatch(of: /^\s*(`{3,}|~{3,})\s*([^\s`]*)/) {
                let language = String(fence.2)
                open = (fence.1, index + 1, language, [], before?.reason)
                let isShell = DocumentBlock(document: "", line: 0, language: language, text: "", notRun: nil).isShell
                if let before, !isShell || before.reason.isEmpty { stray.append("\(document):\(before.line)") }
                continue
            }
            if let before { stray.append("\(document):\(before.line)") }
            if let found = line.firstMatch(of: /^\s*<!--\s*not run\b:?\s*(.*?)\s*-->\s*$/) {
                mark = (index + 1, String(found.1))
            }
        }
        if let mark { stray.append("\(document):\(mark.line)") }
        if let open { stray.append("\(document):\(open.line), which is not closed") }
        self.blocks = blocks
        strayMarks = stray
    }
}
