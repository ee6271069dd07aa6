import SimulationAPI

/// Changes that the vendor may make without notice, by its versioning policy, and a namespace has made already [P, D future].
package struct FutureChanges: Sendable, Equatable {
    /// Whether every object of an answer or a webhook has a further member.
    package let addsMembers: Bool
    /// Whether members, and elements whose order means nothing, come in another order.
    package let reorders: Bool
    /// Whether errors that the description does not list for their route have another status.
    package let changesErrors: Bool
    /// Whether a further webhook event follows each event of a session.
    package let addsEvents: Bool
    /// Whether texts that clients should not look into are longer: ids of captures, tokens and cursors.
    package let lengthensOpaque: Bool

    static let names = FutureSwitch.allCases.map(\.rawValue)

    static let defaults = JSONValue.object(JSONObject(names.map { ($0, .bool(false)) }))

    /// Reads the setting. Problems go to `fields`.
    init(_ fields: inout FieldReader) {
        var given = fields.object("future", known: Self.names)
        addsMembers = given.optionalBool("members") ?? false
        reorders = given.optionalBool("order") ?? false
        changesErrors = given.optionalBool("errors") ?? false
        addsEvents = given.optionalBool("events") ?? false
        lengthensOpaque = given.optionalBool("opaque") ?? false
    }

    /// Whether JSON is changed after it is made.
    package var changesBodies: Bool { addsMembers || reorders }
    /// Whether answers are changed after they are made.
    var changesAnswers: Bool { changesBodies || changesErrors }
}

/// The parts of a platform's documents that the changes must know.
package struct FutureForms: Sendable {
    /// The members that are maps of texts. What is added to them is a text.
    package var mapsOfTexts: Set<String> = []
    /// The lists whose order means nothing.
    package var unorderedLists: Set<String> = []
    /// The lists whose order means nothing where their elements are texts.
    package var unorderedTexts: Set<String> = []

    package init(
        mapsOfTexts: Set<String> = [], unorderedLists: Set<String> = [], unorderedTexts: Set<String> = []
    ) {
        self.mapsOfTexts = mapsOfTexts
        self.unorderedLists = unorderedLists
        self.unorderedTexts = unorderedTexts
    }
}

/// The changes of a namespace, with what they follow from. An object, because every outcome has room for it and few have one.
///
/// A change follows from the namespace's random seed and the place in the document, so that the same place is the same in each
/// answer, and in each run.
package final class NamespaceFuture: Sendable {
    package let changes: FutureChanges
    private let generator: SeededGenerator
    private let forms: FutureForms

    /// - Returns: `nil` if no answer changes.
    init?(_ changes: FutureChanges, _ generator: SeededGenerator, _ forms: FutureForms) {
        guard changes.changesAnswers else { return nil }
        self.changes = changes
        self.generator = generator
        self.forms = forms
    }

    /// The document with a further member in each object, and in another order, as the settings say.
    package func changed(_ document: JSONDocument) -> JSONDocument { changed(document, at: "", named: "") }

    private func changed(_ document: JSONDocument, at path: String, named name: String) -> JSONDocument {
        switch document {
        case .scalar: return document
        case .array(let elements):
            let changed = elements.map { self.changed($0, at: path, named: name) }
            return .array(changes.reorders && isUnordered(name, elements) ? reordered(changed, at: path) : changed)
        case .object(var members):
            for index in members.indices {
                let member = members[index]
                members[index].value = changed(member.value, at: "\(path)/\(member.name)", named: member.name)
            }
            if changes.addsMembers { members.append(addition(at: path, isText: forms.mapsOfTexts.contains(name))) }
            return .object(changes.reorders ? reordered(members, at: path) : members)
        }
    }

    private func isUnordered(_ name: String, _ elements: [JSONDocument]) -> Bool {
        if forms.unorderedLists.contains(name) { return true }
        guard case .scalar? = elements.first else { return false }
        return forms.unorderedTexts.contains(name)
    }

    /// The elements in another order, if there are two.
    private func reordered<Element>(_ elements: [Element], at path: String) -> [Element] {
        guard elements.count > 1 else { return elements }
        var order = Array(elements.indices)
        var state = UInt64(generator.fraction(for: "order:\(path)") * 0x1p53)
        for index in order.indices.dropLast() {
            // SplitMix64, from which a few small numbers are enough.
            state &+= 0x9e37_79b9_7f4a_7c15
            var bits = state
            bits = (bits ^ bits >> 30) &* 0xbf58_476d_1ce4_e5b9
            bits = (bits ^ bits >> 27) &* 0x94d0_49bb_1331_11eb
            order.swapAt(index, index + Int((bits ^ bits >> 31) % UInt64(order.count - index)))
        }
        // An order that is the same by chance would change nothing.
        if order.elementsEqual(elements.indices) { order.append(order.removeFirst()) }
        return order.map { elements[$0] }
    }

    /// The further member of an object.
    private func addition(at path: String, isText: Bool) -> (name: String, value: JSONDocument) {
        let word = generator.name(for: "member:\(path)")
        let kinds: [JSONDocument] = [
            .scalar(.string(word)), .scalar(.number(JSONNumber(42))), .scalar(.bool(true)), .scalar(.null),
            .array([.scalar(.string(word))]), .object([("id", .scalar(.string(word)))]),
        ]
        let kind = isText ? 0 : Int(generator.fraction(for: "member:\(path)") * Double(kinds.count))
        return ("x_\(word)", kinds[kind])
    }

    /// The status of an error that had another one.
    ///
    /// - Parameter route: the method and path of the route; of a request for none, those of the request.
    package func status(ofErrorAt route: String) -> Int {
        generator.fraction(for: "error:\(route)") < 0.5 ? 400 : 422
    }
}
