import EntrupyAPI

/// Reads a JSON document that people write, such as settings and rules, and collects the problems found.
struct DocumentReader {
    /// The word for a member of the document, for error messages.
    let member: String
    var problems: [ErrorDetail] = []

    init(member: String) {
        self.member = member
    }

    mutating func object(
        _ value: JSONValue?, _ field: String, allowed: [String], of what: String? = nil
    ) -> JSONObject {
        switch value {
        case nil, .null: return [:]
        case .object(let members):
            for key in members.keys.sorted() where !allowed.contains(where: { $0.isIdentical(to: key) }) {
                problems.append(
                    ErrorDetail(
                        field.isEmpty ? key : "\(field).\(key)",
                        "is not a known \(member); known here are \(allowed.joined(separator: ", "))"))
            }
            return members
        case .some(let other):
            problems.append(
                ErrorDetail(field, "\(what.map { "\($0) " } ?? "")must be an object, got \(other.typeName)"))
            return [:]
        }
    }

    mutating func span(_ value: JSONValue?, _ field: String, from least: Span = .zero, to most: Span = .limit) -> Span?
    {
        guard let value, value != .null else { return nil }
        guard let span = Span(value) else {
            let bounds =
                most == .limit ? Span.expectation : "\(Span.form), from \(least.seconds) to \(most.seconds) seconds"
            problems.append(ErrorDetail(field, bounds))
            return nil
        }
        guard least <= span, span <= most else {
            problems.append(
                ErrorDetail(
                    field,
                    "must be from \(least.seconds) to \(most.seconds) seconds"))
            return nil
        }
        return span
    }

    /// Reads a list of at most 100 durations.
    mutating func spans(_ value: JSONValue?, _ field: String) -> [Span]? {
        guard let value, value != .null else { return nil }
        guard let elements = value.elements, elements.count <= 100 else {
            problems.append(
                ErrorDetail(field, "must be a list of at most 100 durations, for instance [\"1s\", \"1m\"]"))
            return nil
        }
        return elements.enumerated().compactMap { index, element in
            if element == .null { problems.append(ErrorDetail("\(field)[\(index)]", Span.expectation)) }
            return span(element, "\(field)[\(index)]")
        }
    }

    mutating func oneOf(_ value: JSONValue?, _ field: String, _ accepted: [String]) -> String? {
        guard let value, value != .null else { return nil }
        guard let text = value.text, accepted.contains(where: { $0.isIdentical(to: text) }) else {
            problems.append(ErrorDetail(field, "must be one of \(accepted.joined(separator: ", "))"))
            return nil
        }
        return text
    }

    mutating func list(_ value: JSONValue?, _ field: String, _ accepted: [String]) -> [String]? {
        guard let value, value != .null else { return nil }
        guard case .array(let elements) = value else {
            problems.append(ErrorDetail(field, "must be a list of \(accepted.joined(separator: ", "))"))
            return nil
        }
        return elements.enumerated().compactMap { index, element in
            if element == .null { problems.append(ErrorDetail("\(field)[\(index)]", "must not be null")) }
            return oneOf(element, "\(field)[\(index)]", accepted)
        }
    }

    mutating func bool(_ value: JSONValue?, _ field: String) -> Bool? {
        switch value {
        case nil, .null: return nil
        case .bool(let flag): return flag
        default:
            problems.append(ErrorDetail(field, "must be true or false"))
            return nil
        }
    }

    mutating func count(
        _ value: JSONValue?, _ field: String, from least: Int = 0, to most: Int = 1_000_000_000
    ) -> Int? {
        guard let value, value != .null else { return nil }
        guard case .number(let number) = value, let count = number.integer, (least...most).contains(count)
        else {
            problems.append(
                ErrorDetail(field, "must be a whole number from \(least) to \(most)"))
            return nil
        }
        return count
    }

    /// Reads a text; `most` is the maximum length, in UTF-8 bytes.
    mutating func text(_ value: JSONValue?, _ field: String, most: Int = 1000) -> String? {
        guard let value, value != .null else { return nil }
        guard let text = value.text else {
            problems.append(ErrorDetail(field, "must be a string, got \(value.typeName)"))
            return nil
        }
        if text.utf8.contains(0) {
            problems.append(ErrorDetail(field, "must not contain the character U+0000"))
        } else if text.isEmpty {
            problems.append(ErrorDetail(field, "must not be empty"))
        } else if let problem = TextRules.tooLong(text, bytes: most) {
            problems.append(ErrorDetail(field, problem))
        }
        return text
    }

    /// Reads a number in a range.
    mutating func number(_ value: JSONValue?, _ field: String, in range: ClosedRange<Double>) -> Double? {
        guard let value, value != .null else { return nil }
        guard case .number(let number) = value, range.contains(number.double) else {
            problems.append(
                ErrorDetail(field, "must be a number from \(range.lowerBound) to \(range.upperBound)"))
            return nil
        }
        return number.double
    }

    /// Throws if there are problems.
    func finish() throws {
        guard problems.isEmpty else { throw PlatformError.invalid(problems) }
    }
}
