/// A kind of ids and tokens. Each kind has its own counter, so that they do not affect each other.
struct IDKind: Sendable, Hashable {
    /// The name under which the counter is stored. Ids are derived from it, so it never changes.
    let name: String
    let prefix: String
    /// The number of base32 characters after the prefix.
    let length: Int
    let isUppercase: Bool

    init(_ name: String, prefix: String = "", length: Int, isUppercase: Bool = false) {
        self.name = name
        self.prefix = prefix
        self.length = length
        self.isUppercase = isUppercase
    }

    static func == (left: Self, right: Self) -> Bool { left.name.isIdentical(to: right.name) }

    func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

extension IDKind {
    static let subscription = IDKind("subscription", prefix: "wh_", length: 20)
    static let webhookEvent = IDKind("webhook_event", prefix: "evt_", length: 20)
    static let delivery = IDKind("delivery", prefix: "dlv_", length: 20)
    static let outcome = IDKind("outcome", prefix: "out_", length: 20)
    static let fault = IDKind("fault", prefix: "flt_", length: 20)
    static let request = IDKind("request", prefix: "req_", length: 20)
    static let controlRequest = IDKind("control_request", prefix: "ctl_", length: 20)

    /// The engine's own kinds.
    static let ofEngine: [IDKind] = [
        .subscription, .webhookEvent, .delivery, .outcome, .fault, .request, .controlRequest,
    ]
}
