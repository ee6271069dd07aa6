/// A parser of the project, as a fuzzer sees it: bytes in, and either a label or a finding out.
struct FuzzTarget: Sendable {
    /// Also the name of its folder in `corpus` and of its dictionary.
    let name: String
    /// The longest input that is made for it, in bytes.
    let maxLength: Int
    /// How much dearer one input is than one of the cheapest target. A long run makes this many times fewer inputs.
    let cost: Int
    /// Reads one input.
    ///
    /// Returns a short label of the outcome. An input with a new label becomes part of the pool that later inputs are made from.
    /// Throws ``FuzzFinding`` for a wrong result.
    private let body: @Sendable ([UInt8]) throws -> String

    init(
        _ name: String, maxLength: Int = 4_096, cost: Int = 1, _ body: @escaping @Sendable ([UInt8]) throws -> String
    ) {
        self.name = name
        self.maxLength = maxLength
        self.cost = cost
        self.body = body
    }

    /// Reads one input.
    ///
    /// - Throws: ``FuzzFinding``; an error that the parser should not throw becomes one.
    func read(_ input: [UInt8]) throws -> String {
        do {
            return try body(input)
        } catch let finding as FuzzFinding {
            throw finding
        } catch {
            throw FuzzFinding("an error of an unexpected kind: \(error)")
        }
    }

    /// All targets.
    static let all = bodies + texts + files + server

    /// The target of a name; `nil` if there is none.
    static func named(_ name: String) -> FuzzTarget? {
        all.first { $0.name == name }
    }
}

/// A wrong result of a parser.
struct FuzzFinding: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }

    /// Throws unless `condition` holds.
    static func require(_ condition: Bool, _ description: @autoclosure () -> String) throws {
        guard condition else { throw FuzzFinding(description()) }
    }
}

/// An error text as a label: without what changes from input to input, such as numbers and quoted parts.
func label(_ text: String) -> String {
    var label: [UInt8] = []
    var isQuoted = false
    for byte in text.utf8 {
        if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
        if isQuoted || (0x30...0x39).contains(byte) { continue }
        label.append(byte)
        if label.count == 80 { break }
    }
    return String(decoding: label, as: UTF8.self)
}
