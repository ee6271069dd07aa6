import Console
import Foundation
import NIOHTTP1
import SimulationAPI

/// A request of the control API, and how its answer is printed.
struct ControlCall {
    enum Body {
        case json(JSONValue)
        /// Bytes with their media type.
        case bytes(Data, type: String)
        /// The path of a file that is sent unchanged.
        case file(String)
    }

    let method: HTTPMethod
    let path: ControlPath
    let query: [(String, String?)]
    let body: Body?
    /// Headers beside those of every request.
    let headers: [(String, String)]
    /// Whether errors may have another form than those of the control API, such as the body of a fault rule.
    var mayFailOtherwise = false
    /// Whether the server may work for minutes before it answers. It must then answer `/_sim/ping`.
    let takesLong: Bool
    /// The operation, as its progress shows it, for instance `saving the snapshot`; `nil` if it is short.
    private(set) var doing: String?
    /// Prints an answer for people; as JSON unless ``printing(_:)`` or the like says otherwise.
    private(set) var show: (ControlClient.Answer, Terminal) throws -> Void = { $1.json($0.bytes) }

    init(
        _ method: HTTPMethod, _ path: ControlPath, _ query: [(String, String?)] = [],
        headers: [(String, String)] = [], body: Body? = nil, takesLong: Bool = false
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
        self.takesLong = takesLong
        doing = takesLong ? "waiting for the server" : nil
    }
}

// MARK: How the answer is printed

/// An answer that all commands print in the same form.
protocol Printable {
    func show(on terminal: Terminal) throws
}

extension ControlCall {
    /// Names the operation in its progress; `nil` if none is shown.
    func showing(_ doing: String?) -> ControlCall { setting(\.doing, to: doing) }

    /// Prints an answer of a type with `show`.
    func printing<Value: Decodable>(_ show: @escaping (Value, Terminal) throws -> Void) -> ControlCall {
        setting(\.show, to: { try show($0.decoded(), $1) })
    }

    /// Prints an answer of a type that has one form for all commands.
    func printing<Value: Decodable & Printable>(_ type: Value.Type) -> ControlCall {
        printing { (value: Value, terminal) in try value.show(on: terminal) }
    }

    /// Prints the rows of a list as a table.
    ///
    /// - Parameters:
    ///   - next: the place where the list goes on; `nil` if it is always whole.
    ///   - more: what to do to see the rest.
    ///   - cells: the text under each heading; `nil` if there is no value.
    func listing<List: Decodable, Row>(
        _ rows: @escaping (List) -> [Row], next: ((List) -> String?)? = nil, more: String = "raise --limit",
        empty: String, _ headings: [String], cells: @escaping (Row) throws -> [String?]
    ) -> ControlCall {
        printing { (list: List, terminal) in
            terminal.table(headings, try rows(list).map(cells), empty: empty)
            if next?(list) != nil { terminal.note("there are more; \(more)") }
        }
    }

    /// Prints a sentence, whatever the answer is.
    func saying(_ sentence: String) -> ControlCall { setting(\.show, to: { $1.line(sentence) }) }

    private func setting<Value>(_ member: WritableKeyPath<ControlCall, Value>, to value: Value) -> ControlCall {
        var call = self
        call[keyPath: member] = value
        return call
    }
}

// MARK: Parts of a request

/// A path of the control API. Interpolated values are percent-encoded, so each stays one part of the path.
struct ControlPath: ExpressibleByStringInterpolation {
    let text: String

    init(stringLiteral text: String) { self.text = text }

    init(stringInterpolation parts: Parts) { text = parts.text }

    struct Parts: StringInterpolationProtocol {
        fileprivate var text = ""

        init(literalCapacity: Int, interpolationCount: Int) {}

        mutating func appendLiteral(_ literal: String) { text += literal }

        mutating func appendInterpolation(_ value: String) { text += URLPart.escaped(value) }
    }
}

extension ControlCall.Body: ExpressibleByDictionaryLiteral {
    /// A JSON object, as ``JSONValue/members(_:)`` makes it.
    init(dictionaryLiteral members: (String, any BodyMember)...) { self = .json(.members(members)) }
}

extension JSONValue {
    /// An object. Members without a value, such as options that were not given, are left out.
    static func members(_ members: [(String, any BodyMember)]) -> JSONValue {
        .object(JSONObject(members.compactMap { name, value in value.json.map { (name, $0) } }))
    }
}

/// A value that a member of a request's body can have. Its JSON is `nil` if the member is left out.
protocol BodyMember {
    var json: JSONValue? { get }
}

extension JSONValue: BodyMember { var json: JSONValue? { self } }
extension String: BodyMember { var json: JSONValue? { .string(self) } }
extension Int: BodyMember { var json: JSONValue? { .number(JSONNumber(self)) } }
extension Double: BodyMember { var json: JSONValue? { .number(JSONNumber(text: "\(self)")) } }
extension Bool: BodyMember { var json: JSONValue? { .bool(self) } }
extension Optional: BodyMember where Wrapped: BodyMember { var json: JSONValue? { flatMap(\.json) } }

/// The values of an option that may be repeated, left out if there are none.
extension Array: BodyMember where Element == String {
    var json: JSONValue? { isEmpty ? nil : .array(map { .string($0) }) }
}
