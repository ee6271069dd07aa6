import Foundation

/// The reason that the answer to a refused request gives.
package enum AnswerReason {
    /// The error in the body of an answer, with the problem of each wrong field; `nil` if it names none.
    package static func text(_ body: String?) -> String? {
        // An answer need not be JSON: faults may give any body.
        guard let answer = try? WireJSON.decode(JSONValue.self, from: Data((body ?? "").utf8)),
            let error = answer.members?["error"]?.text
        else { return nil }
        let details = answer.members?["details"]?.elements ?? []
        // Of several problems the sentence names the first, and counts the others.
        let counted = " (and \(details.count - 1) more)"
        guard details.count > 1, error.hasSuffix(counted) else { return error }
        let others = details.dropFirst().compactMap { detail -> String? in
            guard let problem = detail.members?["problem"]?.text else { return nil }
            let field = detail.members?["field"]?.text ?? ""
            return field.isEmpty ? problem : "\(field) \(problem)"
        }
        return ([String(error.dropLast(counted.count))] + others).joined(separator: "; ")
    }
}
