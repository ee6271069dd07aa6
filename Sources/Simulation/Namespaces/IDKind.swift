/// The characters of generated ids, after their prefix. Each of them is as likely as the others.
package struct IDAlphabet: Sendable, Equatable {
    /// `a-z2-7`, or `A-Z2-7`.
    package static let base32 = IDAlphabet("abcdefghijklmnopqrstuvwxyz234567")
    package static let uppercaseBase32 = IDAlphabet("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
    /// `A-Z0-9`.
    package static let uppercaseAndDigits = IDAlphabet("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")

    let characters: [UInt8]

    private init(_ characters: String) {
        self.characters = Array(characters.utf8)
    }
}

/// A kind of ids and tokens. Each kind has its own counter, so that they do not affect each other.
package struct IDKind: Sendable, Hashable {
    /// The name under which the counter is stored. Ids are derived from it, so it never changes.
    package let name: String
    package let prefix: String
    /// The number of characters after the prefix.
    package let length: Int
    /// The number of characters while the setting `future.opaque` is on; `nil` if it changes nothing [D future].
    package let futureLength: Int?
    package let alphabet: IDAlphabet

    package init(
        _ name: String, prefix: String = "", length: Int, futureLength: Int? = nil,
        alphabet: IDAlphabet = .base32
    ) {
        self.futureLength = futureLength
        self.name = name
        self.prefix = prefix
        self.length = length
        self.alphabet = alphabet
    }

    /// Whether ids of this kind are tokens, which authenticate their holder. Tokens have at least 40 characters after a
    /// prefix that ends with `_`.
    package var isToken: Bool { length >= 40 && prefix.utf8.last == UInt8(ascii: "_") }

    /// Whether a pattern may be meant for ids of this kind, whose ends nobody knows.
    package func fits(_ pattern: Glob) -> Bool {
        if pattern.pattern.utf8.first == UInt8(ascii: "*") { return false }
        return prefix.isEmpty
            ? pattern.pattern.utf8.allSatisfy {
                alphabet == .base32 || !(UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
            }
            : Glob(prefix + "*").overlaps(pattern)
    }

    package static func == (left: Self, right: Self) -> Bool { left.name.isIdentical(to: right.name) }

    package func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

extension IDKind {
    package static let subscription = IDKind("subscription", prefix: "wh_", length: 20)
    package static let verification = IDKind("verification", prefix: "whv_", length: 20)
    package static let webhookEvent = IDKind("webhook_event", prefix: "evt_", length: 20)
    package static let delivery = IDKind("delivery", prefix: "dlv_", length: 20)
    package static let outcome = IDKind("outcome", prefix: "out_", length: 20)
    package static let fault = IDKind("fault", prefix: "flt_", length: 20)
    package static let held = IDKind("held", prefix: "hld_", length: 20)
    package static let request = IDKind("request", prefix: "req_", length: 20)
    package static let controlRequest = IDKind("control_request", prefix: "ctl_", length: 20)

    /// The engine's own kinds.
    package static let ofEngine: [IDKind] = [
        .subscription, .verification, .webhookEvent, .delivery, .outcome, .fault, .held, .request, .controlRequest,
    ]
}
