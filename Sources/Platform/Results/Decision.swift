import Storage

/// What an item will get, when, and by which rule: the first that matches wins [D].
struct Decision: Sendable {
    enum Rule: String, Sendable {
        case debugConfiguration = "debug_configuration"
        case magicCustomerItemID = "magic_customer_item_id"
        case unknownBrand = "unknown_brand"
        case namespaceDefault = "namespace_default"
        /// Not decided at submission: somebody set it through the control API.
        case control
        /// Not decided at submission: support changed it when it resolved a flag.
        case flagResolution = "flag_resolution"
    }

    let rule: Rule
    let resultID: String
    let reason: String?
    let delay: Span

    static func make(
        configType: String, customerItemID: String?, brandIsKnown: Bool, settings: Settings
    ) throws -> Decision {
        // 1. The debug configuration, at once [S].
        if configType == "debug" {
            return Decision(
                rule: .debugConfiguration, resultID: ResultID.invalid, reason: ResultID.debugReason, delay: .zero)
        }
        // 2. Outcome rules have their place here; they come with the control API's.
        // 3. A magic customer_item_id.
        if let customerItemID, let magic = MagicItemID(customerItemID) {
            return Decision(
                rule: .magicCustomerItemID, resultID: magic.resultID, reason: nil,
                delay: magic.delay ?? settings.resultDelay)
        }
        // 4. A brand the catalogue lacks.
        if !brandIsKnown {
            return Decision(
                rule: .unknownBrand, resultID: ResultID.notSupported, reason: nil, delay: settings.resultDelay)
        }
        // 5. The namespace's default.
        return Decision(
            rule: .namespaceDefault, resultID: settings.defaultResult, reason: nil, delay: settings.resultDelay)
    }
}

/// A `customer_item_id` that says what the item will get, for instance `sim-unknown-after-2h-17` [D].
struct MagicItemID: Sendable {
    let resultID: String
    let delay: Span?

    /// Nil where the text is an ordinary id.
    init?(_ text: String) {
        guard let parts = Self.parts(text) else { return nil }
        resultID = parts.resultID
        if let written = parts.delay {
            guard let span = Span(written) else { return nil }
            delay = span
        } else {
            delay = nil
        }
    }

    /// What is wrong with an id that has the magic form but a delay that is no duration; nil for all others.
    static func problem(_ text: String) -> String? {
        guard let written = parts(text)?.delay, Span(written) == nil else { return nil }
        return "has the form sim-…-after-…, but \"\(written)\" is no duration up to 100 years, such as 90s, 2h or 1.5d"
    }

    /// `^sim-(result)(-after-[0-9.]+(s|m|h|d))?(-.*)?$`, taken apart.
    private static func parts(_ text: String) -> (resultID: String, delay: String?)? {
        var rest = Substring(text)
        guard rest.utf8.starts(with: "sim-".utf8) else { return nil }
        rest = rest.dropFirst(4)
        guard let result = ResultID.all.first(where: { rest.utf8.starts(with: $0.utf8) }) else { return nil }
        rest = rest.dropFirst(result.count)
        guard rest.isEmpty || rest.utf8.first == UInt8(ascii: "-") else { return nil }
        guard rest.utf8.starts(with: "-after-".utf8) else { return (result, nil) }
        let delay = rest.dropFirst("-after-".count)
        let digits = delay.utf8.prefix { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
        let afterDigits = delay.utf8.dropFirst(digits.count)
        guard !digits.isEmpty, let unit = afterDigits.first, "smhd".utf8.contains(unit),
            afterDigits.count == 1 || afterDigits.dropFirst().first == UInt8(ascii: "-")
        else {
            // Not a delay after all: the pattern's last part takes everything behind a hyphen.
            return (result, nil)
        }
        return (result, String(decoding: digits, as: UTF8.self) + String(decoding: [unit], as: UTF8.self))
    }
}
