import Foundation
import Simulation
import SimulationAPI

// Members and parameters that no route reads.
extension Court {
    /// The longest name that is compared, in bytes, and the number of names in an object.
    private static let (maxName, maxNames) = (64, 100)

    /// `unread-member`: a member or parameter that is like one which is read and not there itself, that has another API's name for
    /// it, or that is not read beside another [D audit].
    ///
    /// - Parameters:
    ///   - foreign: ``AuditNames/foreign``.
    ///   - shadowed: members that are not read beside others.
    mutating func members(
        _ rule: AuditRule, _ known: KnownMembers, _ foreign: [String: String], _ shadowed: [ShadowedMember]
    ) {
        let speller = Speller(foreign: foreign)
        for request in requests {
            guard let route = known.route(request.entry.method, request.path) else { continue }
            let parameters = request.parameters
            let body = request.entry.request.length > 0 ? route.body : nil
            guard !parameters.isEmpty || body != nil else { continue }
            judgement.lookedAt += 1
            for (given, read) in speller.misspelt(parameters, route.parameters, isOpen: false) {
                add(rule, given, request, "has the parameter \(given), which is not read; \(read) is")
            }
            if body != nil, !request.entry.request.isWhole { judgement.cut += 1 }
            if let body, let json = request.entry.request.json {
                for (given, read) in speller.misspelt(in: json, body, "") {
                    add(rule, given, request, "sent the member \(given), which is not read; \(read) is")
                }
                for member in shadowed where member.isUnread(in: json, of: request) {
                    let other = "\(member.object).\(member.other)"
                    add(rule, member.name, request, "sent the member \(member.name), which is not read beside \(other)")
                }
            }
        }
    }

    /// Adds an occurrence of a name. Each name is a finding of its own.
    private mutating func add(_ rule: AuditRule, _ name: String, _ request: AuditedRequest, _ text: String) {
        findings.add(
            rule, "\(subject(request))\n\(name)", [self.name(request)], test: request.test, "\(request.summary) \(text)"
        )
    }

    /// Finds the names that are meant by others.
    private struct Speller {
        let foreign: [String: String]

        /// The misspelt members of a value, with their places, and the names that they are like.
        func misspelt(
            in value: JSONValue, _ tree: KnownMembers.Tree, _ place: String
        ) -> [(given: String, read: String)] {
            switch value {
            case .object(let members):
                let sorted = members.sorted
                let own = misspelt(sorted.map(\.name), Array(tree.members.keys), isOpen: tree.isOpen)
                    .map { (place + $0.given, $0.read) }
                return own
                    + sorted.flatMap { name, value in
                        tree.members[name].map { misspelt(in: value, $0, "\(place)\(name).") } ?? []
                    }
            case .array(let elements):
                guard let inner = tree.elements.first else { return [] }
                return elements.prefix(Court.maxNames).flatMap { misspelt(in: $0, inner, place) }
            case .null, .bool, .number, .string: return []
            }
        }

        /// The names that no route reads and that are like one which is missing, or another API's name for one.
        ///
        /// - Parameter isOpen: whether the object takes members of the caller's own. Each word of a name must then be one of the other
        ///   name's, or nearly: `style_note` beside `style_name` is no mistake.
        func misspelt(_ given: [String], _ read: [String], isOpen: Bool) -> [(given: String, read: String)] {
            let unread = given.prefix(Court.maxNames).filter { name in
                name.utf8.count <= Court.maxName && !read.contains { $0.isIdentical(to: name) }
            }
            guard !unread.isEmpty else { return [] }
            let missing = read.filter { name in !given.contains { $0.isIdentical(to: name) } }.sorted()
            let known = missing.map { (name: $0, words: Self.words($0)) }
            return unread.compactMap { name in
                let words = Self.words(name)
                let same = known.first { $0.words.joined() == words.joined() }
                if let same { return (name, same.name) }
                if isOpen { return known.first { Self.isMistake(words, for: $0.words) }.map { (name, $0.name) } }
                if let own = foreign[words.joined()], read.contains(own) { return (name, own) }
                // Two letters of a short name are half of it.
                let most = min(2, (name.utf8.count - 1) / 2)
                guard most > 0 else { return nil }
                return NearestName.nearest(to: name, among: missing, maxDistance: most).map { (name, $0) }
            }
        }

        /// The words of a name in lower case: `customer_item_id` and `customerItemId` have the same three.
        private static func words(_ name: String) -> [String] {
            var words = [""]
            var wasLower = false
            for character in name {
                if character == "_" || character == "-" || wasLower && character.isUppercase { words.append("") }
                if character != "_", character != "-" { words[words.count - 1] += character.lowercased() }
                wasLower = character.isLowercase || character.isNumber
            }
            return words.filter { !$0.isEmpty }
        }

        /// Whether each word is one of the other name's, or that word with a slip.
        private static func isMistake(_ words: [String], for read: [String]) -> Bool {
            words.count == read.count
                && zip(words, read).allSatisfy { $0 == $1 || isSlip(Array($0.utf8), for: Array($1.utf8)) }
        }

        /// Whether a word is another with two letters swapped, in words of four letters with one letter changed, of five with one
        /// missing or added, and of eight with two. Words that differ by a digit or a plural are two words.
        private static func isSlip(_ word: [UInt8], for read: [UInt8]) -> Bool {
            let isPlural = word == read + [UInt8(ascii: "s")] || read == word + [UInt8(ascii: "s")]
            guard !isPlural, !(word + read).contains(where: { (0x30...0x39).contains($0) }) else { return false }
            let places = zip(word, read).enumerated().filter { $1.0 != $1.1 }.map(\.offset)
            let isSwapped =
                word.count == read.count && places.count == 2 && places[0] + 1 == places[1]
                && word[places[0]] == read[places[1]] && word[places[1]] == read[places[0]]
            // Two letters, as those of a country, can be swapped to others'.
            if isSwapped { return word.count > 2 }
            let distance = NearestName.distance(
                String(decoding: word, as: UTF8.self), String(decoding: read, as: UTF8.self))
            switch min(word.count, read.count) {
            case ..<4: return false
            case 4..<8: return distance == 1 && (word.count == read.count || max(word.count, read.count) > 4)
            default: return distance <= 2
            }
        }
    }
}

extension ShadowedMember {
    /// Whether a request has both members, so that one is not read.
    fileprivate func isUnread(in body: JSONValue, of request: AuditedRequest) -> Bool {
        guard route.matches(request.entry.method, request.path), let members = body.members,
            let inner = members[object]?.members, inner[condition.name]?.text == condition.value
        else { return false }
        return !(members[name]?.text ?? "").isEmpty && !(inner[other]?.text ?? "").isEmpty
    }
}

extension AuditedRequest {
    /// The names of the query's parameters.
    fileprivate var parameters: [String] {
        queryPairs.map { pair in
            let name = Substring(pair.utf8.prefix { $0 != UInt8(ascii: "=") })
            return name.utf8.contains(UInt8(ascii: "%")) ? name.removingPercentEncoding ?? String(name) : String(name)
        }
    }
}
