import EntrupySimTesting
public import Foundation

/// Programs of other makers that read what this one wrote.
public struct ForeignProgram: Sendable {
    private let command: [String]

    /// Python's YAML parser. Prints what it read as JSON.
    public static let pythonYAML = ForeignProgram(
        command: [
            "python3", "-c",
            "import sys, json, yaml; json.dump(yaml.safe_load(sys.stdin.buffer.read().decode()), sys.stdout)",
        ])

    /// Node.js, which runs a script.
    public static let node = ForeignProgram(command: ["node", "-"])

    /// Whether the program is there. Runs it.
    public func works(with input: String) -> Bool {
        guard let output = try? read(input) else { return false }
        return !output.isEmpty
    }

    /// The output of the program for an input. Empty if it failed.
    public func read(_ input: String) throws -> Data {
        let files = FileManager.default
        let folder = files.temporaryDirectory.appendingPathComponent("entrupy-sim-foreign-\(UUID())")
        try files.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? files.removeItem(at: folder) }
        let (given, output) = (folder.appendingPathComponent("input"), folder.appendingPathComponent("output"))
        try Data(input.utf8).write(to: given)
        try Data().write(to: output)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        // Files and no pipes: another process that is started now would inherit a pipe and hold it open.
        process.standardInput = try FileHandle(forReadingFrom: given)
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = FileHandle.nullDevice
        try process.startSerially()
        process.waitUntilExit()
        return process.terminationStatus == 0 ? try Data(contentsOf: output) : Data()
    }
}
