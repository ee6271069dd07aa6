// What the app sees: people, captures, results, flags, search.

extension Fidelity {
    /// What a user may search for.
    static let search = [
        Decision(
            id: "search-order",
            rule: "Pages go by the time of submission, newest first, then by `entrupy_id`, ascending.",
            place: "Sources/Storage/ItemSearch.swift", settledBy: "two items submitted at one moment"),
        Decision(
            id: "search-limits",
            rule: "At most 20 filters of at most 100 values; a page has 20 where the caller does not say.",
            place: "Sources/Platform/Search/SearchKey.swift", settledBy: "the platform's limits"),
        Decision(
            id: "search-cursor",
            rule: """
                A cursor is two strings: where the page begins, and a seal that binds it to namespace, user, filters and \
                dates. It does not age.
                """,
            place: "Sources/Platform/Search/SearchItems.swift", settledBy: "a cursor of the platform"),
        Decision(
            id: "generated-items",
            rule: """
                Items made by the control API have no capture and no images, are Nike's and authentic unless told \
                otherwise; their timeline is what would have happened to them. `{n}` in a text becomes the item's number.
                """,
            place: "Sources/Platform/Items/GenerateItems.swift", settledBy: "nothing: the platform has no such thing"),
        Decision(
            id: "user-limits",
            rule: "A user's own limits go before the namespace's and before a test user's freedom, each for itself.",
            place: "Sources/Platform/Users/Users.swift", settledBy: "nothing: the platform has no such thing"),
    ]

    static let people = [
        Decision(
            id: "email", rule: "An email needs an `@` with something on both sides.",
            place: "Sources/Platform/TextRules.swift", settledBy: "odd emails, sent to authorize-user"),
        Decision(
            id: "empty-is-absent", rule: "An empty email or name counts as absent.",
            place: "Sources/Platform/Authorization/AuthorizeUser.swift",
            settledBy: "an empty first_name, sent to authorize-user"),
        Decision(
            id: "late-names",
            rule: "A name given first in a later call is set then, unless that call conflicts: a 409 stores nothing.",
            place: "Sources/Platform/Authorization/AuthorizeUser.swift",
            settledBy: "such calls, and the certificate after them"),
        Decision(
            id: "sdk-request-size", rule: "`sdk_authorization_request` is at most 10,000 bytes.",
            place: "Sources/Platform/Authorization/AuthorizeUser.swift", settledBy: "the platform's limit"),
        Decision(
            id: "sdk-request-format",
            rule: "An SDK request that is base64url JSON names a bundle; any other string is accepted and names none.",
            place: "Sources/Platform/Authorization/SignedRequests.swift", settledBy: "a request string of the real SDK"),
        Decision(
            id: "signed-request",
            rule: "A signed request is a JWT (HS256, the namespace's key) that is good for one login within 1 hour.",
            place: "Sources/Platform/Authorization/SignedRequests.swift", settledBy: "a signed request of the platform"),
        Decision(
            id: "login-limit",
            rule: "A login over the limit does not consume the signed request; test users have no login limit.",
            place: "Sources/Platform/Sessions/Sessions.swift",
            settledBy: "a sixth login within a minute, tried again later"),
        Decision(
            id: "retry-after", rule: "Retry-After is the longest wait of the limits exceeded, rounded up, at least 1.",
            place: "Sources/Platform/RateLimits/RateLimits.swift", settledBy: "a 429 of the platform"),
    ]

    static let captures = [
        Decision(
            id: "configuration-lifetime", rule: "A configuration may be kept for 24 hours.",
            place: "Sources/Platform/Configuration/Configuration.swift", settledBy: "a configuration of the platform"),
        Decision(
            id: "capture-steps", rule: "Which regions a workflow asks for, how many, and their guidance; debug has 2.",
            place: "seed-data/standard.yaml", settledBy: "a configuration of the platform"),
        Decision(
            id: "default-workflow", rule: "`config_type` absent is production.",
            place: "Sources/Platform/Capture/Captures.swift", settledBy: "the SDK's own requests"),
        Decision(
            id: "item-lengths",
            rule: "Item fields other than `customer_item_id` (256) are at most 1,000 characters, in Unicode scalars.",
            place: "Sources/Platform/Capture/ItemMetadata.swift", settledBy: "the platform's limits"),
        Decision(
            id: "item-empty-fields",
            rule: "An empty optional field of an item counts as absent; `us_size` and `upc` may be numbers.",
            place: "Sources/Platform/Capture/ItemMetadata.swift", settledBy: "such items, sent to the platform"),
        Decision(
            id: "item-types", rule: "`item_type` and `material` are not held to the catalogue's lists.",
            place: "Sources/Platform/Capture/ItemMetadata.swift",
            settledBy: "an unknown item_type, sent to the platform"),
        Decision(
            id: "capture-owner", rule: "A capture belongs to the user, not to the session that started it.",
            place: "Sources/Platform/Capture/Captures.swift", settledBy: "a capture gone on with in another session"),
        Decision(
            id: "image-check",
            rule: """
                Images are checked by structure, not decoded: JPEG from SOI to EOI, PNG chunks with CRC to IEND (bytes \
                behind those ends are let pass), HEIC boxes to the file's exact end.
                """,
            place: "Sources/Platform/Capture/ImageFormat.swift", settledBy: "broken images, sent to the platform"),
        Decision(
            id: "images-given-up",
            rule: """
                A capture that is cancelled or times out gives its images up at once: `/images/{sha256}/…` is 404 unless another \
                capture has them, `uploaded` stays as it was. So do a reset, a deleted namespace and a deleted snapshot, and an \
                upload that replaces another. Files that nothing refers to are removed within a minute of real time.
                """,
            place: "Sources/Platform/Capture/ImageReferences.swift",
            settledBy: "the images of a cancelled capture on the platform"),
        Decision(
            id: "capture-pages", rule: "A page of captures is 1 to 25, 20 where the caller does not say.",
            place: "Sources/Platform/Capture/Captures.swift", settledBy: "nothing: the route is the simulator's own"),
        Decision(
            id: "quota",
            rule: "The setting `quota` refuses a capture's start with 403 once a user has submitted so many.",
            place: "Sources/Platform/Capture/Captures.swift", settledBy: "a user over quota on the platform"),
        Decision(
            id: "submitted-twice", rule: "409 on a capture submitted twice carries its `entrupy_id`.",
            place: "Sources/Server/Wire/ErrorAnswer.swift", settledBy: "a submission sent twice to the platform"),
    ]

    static let results = [
        Decision(
            id: "decision-order",
            rule: """
                Debug configuration, outcome rules (not there yet), magic `customer_item_id`, unknown brand, the \
                namespace's default: the first that matches decides.
                """,
            place: "Sources/Platform/Results/Decision.swift", settledBy: "nothing: experts decide on the platform"),
        Decision(
            id: "magic-ids",
            rule: """
                A `customer_item_id` such as `sim-unknown-after-2h-17` says what the item gets; one of that form with a \
                delay that is no duration (`1.2.3h`) is 400.
                """,
            place: "Sources/Platform/Results/Decision.swift", settledBy: "nothing: the platform has no such ids"),
        Decision(
            id: "result-delay", rule: "A result comes 5 s after the submission; one without delay is there at once.",
            place: "Sources/Platform/Settings/Settings.swift", settledBy: "nothing: experts take minutes to hours"),
        Decision(
            id: "unknown-brand",
            rule:
                "A brand the catalogue lacks is accepted and ends as `not_supported`; its category does not matter.",
            place: "Sources/Platform/Capture/ItemMetadata.swift", settledBy: "such an item, sent to the platform"),
        Decision(
            id: "invalid-reason", rule: "An invalid result that was given no reason has the seed's first.",
            place: "Sources/Platform/Results/Results.swift", settledBy: "the platform's reasons"),
        Decision(
            id: "certificate-while-authentic", rule: "A certificate is shown while the result is authentic.",
            place: "Sources/Platform/Results/ResultRendering.swift", settledBy: "an authentic result that was changed"),
        Decision(
            id: "timeline", rule: "Which events an SDK result lists, their types and texts.",
            place: "Sources/Platform/Results/ResultRendering.swift", settledBy: "`events` of a real result"),
        Decision(
            id: "model-and-function",
            rule: "`properties.model` is made from `style_name`, `function` from `item_type`.",
            place: "Sources/Platform/Results/ResultRendering.swift", settledBy: "`properties` of a real result"),
    ]

    static let flags = [
        Decision(
            id: "flag-eligible", rule: "Final `authentic` and `unknown` results may be flagged.",
            place: "seed-data/standard.yaml", settledBy: "`is_flaggable` of other results"),
        Decision(
            id: "flag-states", rule: "Flagging what is flagged, or clearing what is not, is 409.",
            place: "Sources/Platform/Flags/Flags.swift", settledBy: "such requests, sent to the platform"),
        Decision(
            id: "flag-reasons",
            rule: "The flag reasons there are; the first where none is given; a message is at most 2,000 characters.",
            place: "Sources/Platform/Flags/Flags.swift", settledBy: "`supported_flag_reasons` of the platform"),
        Decision(
            id: "flagging-off", rule: "With flagging through the SDK switched off, setting and clearing are both 403.",
            place: "Sources/Platform/Flags/Flags.swift", settledBy: "an organization where it is off"),
        Decision(
            id: "flag-cleared", rule: "Clearing a flag forgets its reason, message and time.",
            place: "Sources/Platform/Flags/Flags.swift", settledBy: "a flag cleared on the platform"),
    ]
}
