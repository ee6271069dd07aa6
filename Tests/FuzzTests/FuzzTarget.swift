/// A parser of the project for a fuzzer: takes bytes, and returns a label or throws a finding.
struct FuzzTarget: Sendable {
    /// The target's name, and the name of its folder in `corpus` and of its dictionary.
    let name: String
    /// The length of the longest generated input, in bytes.
    let maxLength: Int
    /// The cost of one input, relative to the cheapest target. A long run makes this many times fewer inputs.
    let cost: Int
    /// Reads one input.
    ///
    /// Returns a short label of the outcome. An input with a new label joins the pool from which later inputs are made.
    /// Throws ``FuzzFinding`` for a wrong result.
    private let body: @Sendable ([UInt8]) throws -> String
    private let preparation: @Sendable () throws -> Void

    init(
        _ name: String, maxLength: Int = 4_096, cost: Int = 1,
        prepare: @escaping @Sendable () throws -> Void = {}, _ body: @escaping @Sendable ([UInt8]) throws -> String
    ) {
        self.name = name
        self.maxLength = maxLength
        self.cost = cost
        preparation = prepare
        self.body = body
    }

    /// Makes what the next input needs, such as a server with its objects. The time that takes is not the cost of an input.
    ///
    /// - Throws: ``FuzzFinding``.
    func prepare() throws {
        try findings(of: preparation)
    }

    /// Reads one input.
    ///
    /// - Throws: ``FuzzFinding``; an error that the parser should not throw becomes one.
    func read(_ input: [UInt8]) throws -> String {
        try findings { try body(input) }
    }

    private func findings<Value>(of body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let finding as FuzzFinding {
            throw finding
        } catch {
            throw FuzzFinding("an error of an unexpected kind: \(error)")
        }
    }

    static let all = bodies + texts + files + server

    /// The target with this name, `nil` if there is none.
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

/// Turns an error text into a label: removes parts that change with the input, such as numbers and quotations.
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
