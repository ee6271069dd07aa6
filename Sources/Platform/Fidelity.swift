/// Every decision that is ours [D]: neither the seed documents nor the vendor's public reference says.
///
/// `docs/fidelity.md` is made from this list, so that whoever knows the real platform can correct it in a minute.
package enum Fidelity {
    /// One decision.
    package struct Decision: Sendable {
        /// A short name, unique.
        package let id: String
        /// What we decided.
        package let rule: String
        /// The file that carries it, from the root of the repository.
        package let place: String
        /// What would settle it.
        package let settledBy: String
    }

    /// The text of `docs/fidelity.md`.
    package static var markdown: String {
        let head = """
            # Where the simulator decides for itself

            What follows is not in the vendor's documents or public reference: we decided it, so that the simulator has
            one answer everywhere. Each decision lives in one place. If you know the real platform, correct it there.

            This file is made by `entrupy-sim fidelity` from the list in `Sources/Platform/Fidelity.swift`; a test fails
            when the two differ.

            | decision | rule | where it lives | what would settle it |
            |---|---|---|---|

            """
        let rows = decisions.map { "| \($0.id) | \($0.rule) | `\($0.place)` | \($0.settledBy) |\n" }
        return head + rows.joined()
    }

    private static let certificates = [
        Decision(
            id: "certificates",
            rule: """
                A certificate is there while the result is authentic; it shows the names first set for the user, the day of the \
                result, and whom it was transferred to. Sharable is an SVG.
                """,
            place: "Sources/Platform/Certificates/Certificates.swift",
            settledBy: "a real certificate, and a withdrawn one"),
        Decision(
            id: "certificate-transfer",
            rule: """
                The control API gives a certificate another holder, by email; the webhook's `data` then has \
                `certificate_holder`.
                """,
            place: "Sources/Platform/Certificates/Certificates.swift", settledBy: "a real `certificate.transfer`"),
        Decision(
            id: "retakes",
            rule: """
                An item has at most one open retake; while it is open, a result that was to come waits, and comes after the \
                namespace's delay once it is answered. A retake counts no submission, asks for every region it names, and its \
                pictures replace those before. `batch_request` is there while it is open. It may be started again, as by an \
                app that was closed in between; the first submission answers it, and a later one is 409. Its answer changes no \
                result, so it sends no webhook.
                """,
            place: "Sources/Platform/Retakes/Retakes.swift", settledBy: "a retake asked of a real item"),
        Decision(
            id: "support-messages",
            rule: """
                `support.message` goes out for a retake and for a question; `data.support_message` has `type` (`retake` or \
                `question`), `id`, `message`, and `regions` or `options`.
                """,
            place: "Sources/Platform/Retakes/Retakes.swift", settledBy: "a real `support.message`"),
        Decision(
            id: "partner-backend",
            rule: """
                The example backend's users are the seed data's; its tokens last until a reset. What a request does not give, or \
                gives empty, comes from the user's record.
                """,
            place: "Sources/Platform/PartnerBackend/PartnerBackend.swift", settledBy: "the sample apps' own backend"),
    ]

    private static let webhooks = [
        Decision(
            id: "webhook-retries",
            rule: """
                Not 2xx within 10 s of real time, or no connection: again after 1 s, 10 s, 1 min, 10 min, 1 h, then every 6 h \
                as long as that is within 24 h; gaps count from the attempt before, on the namespace's clock. The status says \
                how an attempt ended, whether or not the rest of the answer comes within the 10 s.
                """,
            place: "Sources/Platform/Settings/Settings.swift", settledBy: "a receiver that is down for two days"),
        Decision(
            id: "webhook-order",
            rule: """
                Deliveries of an item to a subscription are in order: while one is being repeated, the others wait behind it.
                """,
            place: "Sources/Platform/Webhooks/Deliveries.swift", settledBy: "a receiver that fails between two events"),
        Decision(
            id: "webhook-channel", rule: "The channel `authentications` is all events.",
            place: "Sources/Platform/Webhooks/Subscriptions.swift", settledBy: "a subscription to the channel"),
        Decision(
            id: "webhook-versions",
            rule: """
                `/v1` and `/v2` list, show and change subscriptions of either version; the bodies' version is that of the call \
                that made the subscription, with its `Api-Version`.
                """,
            place: "Sources/Platform/Webhooks/Subscriptions.swift", settledBy: "subscriptions of both versions"),
        Decision(
            id: "webhook-username", rule: "A `username` need not exist yet.",
            place: "Sources/Platform/Webhooks/Subscriptions.swift", settledBy: "a subscription to an unknown user"),
        Decision(
            id: "webhook-times", rule: "`created_at` of bodies and subscriptions is ISO 8601.",
            place: "Sources/EntrupyAPI/Webhooks.swift", settledBy: "a real delivery"),
        Decision(
            id: "webhook-deleted", rule: "A deleted subscription is not told what it has not been told yet.",
            place: "Sources/Platform/Webhooks/Subscriptions.swift",
            settledBy: "a subscription deleted while its receiver is down"),
    ]

    private static let partner = [
        Decision(
            id: "v2-owner", rule: "`organization_id` is the organization's name, `user_id` the user's name.",
            place: "Sources/Platform/Partner/PartnerRendering.swift", settledBy: "`owner` of a real v2 item"),
        Decision(
            id: "v2-names",
            rule: "`category` is the product category; names of categories and materials are their ids spelled out.",
            place: "Sources/Platform/Partner/PartnerRendering.swift", settledBy: "`properties` of a real v2 item"),
        Decision(
            id: "v2-images", rule: "`images` has `item_photo` and `uploaded_images` of `type`, `display_name`, `url`.",
            place: "Sources/Platform/Partner/PartnerRendering.swift", settledBy: "a v2 item with `include_images=true`"),
        Decision(
            id: "v2-catalog",
            rule: """
                Catalogue data is made up from the item, the same for the same item, until the control API changes it; a \
                listing's platform is Example Market.
                """,
            place: "Sources/Platform/Partner/CatalogData.swift", settledBy: "a v2 item with `include_catalog=true`"),
        Decision(
            id: "lookup-latest",
            rule: "The latest is the one submitted last; of two submitted at one moment, the one that came last.",
            place: "Sources/Storage/Renderings.swift", settledBy: "two items with one `customer_item_id`"),
        Decision(
            id: "partner-search-dates", rule: "`start_date` and `end_date` are taken as in the SDK's search.",
            place: "Sources/Platform/Search/ItemQuery.swift", settledBy: "a partner search with dates"),
        Decision(
            id: "partner-flag-reason",
            rule: """
                A reason that is the id of one of the SDK's is that one; any other is shown to the SDK as `other`, with the \
                text as its message. `DELETE` clears. The SDK's switch does not hold here.
                """,
            place: "Sources/Platform/Partner/PartnerItems.swift", settledBy: "a flag set through v2, seen by the SDK"),
        Decision(
            id: "material-details",
            rule: "A material's `details` are the fields its categories require besides the brand.",
            place: "Sources/Platform/Partner/PartnerCatalogue.swift", settledBy: "a real configuration"),
    ]

    /// What a user may search for.
    private static let search = [
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

    package static let decisions: [Decision] =
        wire + time + people + captures + results + flags + search + partner + webhooks + certificates + rules

    private static let rules = [
        Decision(
            id: "journal",
            rule: """
                The journal keeps requests in memory and is empty after a restart: 10,000 or 16 MiB a namespace unless the settings \
                say otherwise, 64 MiB for the server, where the largest gives way. Pictures are counted and not kept. Of an answer \
                that a fault spoilt it shows what would have gone out.
                """,
            place: "Sources/Platform/Journal/Journal.swift", settledBy: "nothing: the platform has no such thing"),
        Decision(
            id: "outcome-rules",
            rule: """
                An outcome rule is asked at submission, after the debug configuration and before everything else; the first \
                that matches decides. A glob's `*` is any text, slashes too, `?` one character.
                """,
            place: "Sources/Platform/Outcomes/OutcomeRule.swift", settledBy: "nothing: the platform has no such thing"),
        Decision(
            id: "fault-rules",
            rule: """
                A fault is looked for before the token; `status`, `rate_limit` and `image_upload_error` answer instead of doing \
                what was asked, the others do it first. Of several rules the first that strikes wins, and one that matches \
                without striking counts the request. A delay is an hour at most. The control API meets none.
                """,
            place: "Sources/Platform/Faults/Faults.swift", settledBy: "nothing: the platform has no such thing"),
        Decision(
            id: "webhook-faults",
            rule: """
                A webhook's fault is drawn for each attempt, once. `drop` is a failed attempt, repeated like any. `delay` is by the \
                namespace's clock, 30 days at most, and holds the item's next ones up. `duplicate` is a second delivery with the \
                same event id, and `reorder` holds a delivery back until the item's next one is over, an hour at most; both strike \
                first attempts only, and `reorder` none while another of the item is held.
                """,
            place: "Sources/Platform/Webhooks/Deliveries.swift", settledBy: "nothing: the platform has no such thing"),
    ]

    private static let wire = [
        Decision(
            id: "namespaces",
            rule: "Any path may begin with `/ns/{namespace}`; without it the namespace is `default`. Unknown: 404.",
            place: "Sources/Server/NamespaceResponder.swift", settledBy: "nothing: the platform has no such thing"),
        Decision(
            id: "namespace-choice",
            rule: """
                Where the path names no namespace, `X-Sim-Namespace` does, then a host `{namespace}.localhost`. A `ttl` is real \
                time, counted from the last request that named the namespace (listing it is none) or from the server's start, \
                and stopped while a request is at work or somebody listens to its events; it is looked at every two seconds. The \
                server's own routes (health, namespaces) answer whichever namespace is named, so that it can be made.
                """,
            place: "Sources/Server/NamespaceChoice.swift", settledBy: "nothing: the platform has no such thing"),
        Decision(
            id: "events",
            rule: """
                A stream's `epoch` follows from the real time at which somebody first listened, so ids of events are outside the \
                promise that equal worlds give equal answers. What is kept for listeners goes with the process; the event log \
                itself does not, and `since` tells it. Requests are told as far as the journal keeps any.
                """,
            place: "Sources/Platform/Events/EventFeed.swift", settledBy: "nothing: the platform has no such thing"),
        Decision(
            id: "seed-data-later",
            rule: """
                Seed data that is loaded becomes part of what a reset goes back to. It adds and replaces and takes nothing away; \
                what it does not say stays. An export has no items, captures or sessions.
                """,
            place: "Sources/Platform/Seed/LoadSeed.swift", settledBy: "nothing: the platform has no such thing"),
        Decision(
            id: "control-token",
            rule: """
                Where the server asks for a control token, health, readiness, the ping and `/openapi.yaml` need none; a missing \
                or wrong one is 401.
                """,
            place: "Sources/Server/ControlKey.swift", settledBy: "nothing: the platform has no such thing"),
        Decision(
            id: "control-hosts",
            rule: """
                `/_sim` answers only to a `Host` that is an IP address, local, without a dot, or allowed, and refuses \
                changes with another `Origin`: 403.
                """,
            place: "Sources/Server/HostGuard.swift", settledBy: "nothing: the platform has no such thing"),
        Decision(
            id: "order-of-checks",
            rule: """
                Host, namespace, route, method, token 401, limit 429, Api-Version 400, size 413, media type 415, body 400, \
                item 404, permission 403, eligibility 400, state 409 or 410, missing regions 400, image 422.
                """,
            place: "Sources/Server/SimContext.swift",
            settledBy: "a request that is wrong in two ways, sent to the platform"),
        Decision(
            id: "error-envelope",
            rule: "Errors are `{error, code, sdk_error, details, request_id}`; `error` is a string.",
            place: "Sources/Server/Wire/ErrorAnswer.swift", settledBy: "an error answer of the platform"),
        Decision(
            id: "strict-json",
            rule: """
                Bodies are strict RFC 8259: UTF-8 without a byte order mark, no key twice (canonically equal keys are the \
                same key), no number beyond a double, at most 64 deep; the answer names line and column (in \
                bytes). Numbers are echoed to 38 digits.
                """,
            place: "Sources/Server/Wire/StrictJSON.swift", settledBy: "such bodies, sent to the platform"),
        Decision(
            id: "unknown-members",
            rule: "Unknown members of a platform body are ignored; of a control body they are 400.",
            place: "Sources/Server/Wire/FieldReader.swift",
            settledBy: "a body with an unknown member, sent to the platform"),
        Decision(
            id: "nul-character", rule: "A string that holds U+0000 is 400.",
            place: "Sources/Server/Wire/FieldReader.swift", settledBy: "such a string, sent to the platform"),
        Decision(
            id: "body-sizes", rule: "JSON bodies are at most 1,000,000 bytes, else 413.",
            place: "Sources/Server/SimContext.swift", settledBy: "the platform's limit"),
        Decision(
            id: "connections",
            rule: """
                Header fields of a request are at most 200 and 64 KiB together, else 400; at most 10,000 connections, who comes \
                then waits; a connection is closed after five minutes of real time without a byte.
                """,
            place: "Sources/Server/Connections/ConnectionLimits.swift", settledBy: "the platform's limits"),
        Decision(
            id: "body-timeout", rule: "A body must arrive within 30 s of real time after its head, else 408.",
            place: "Sources/Server/SimServer.swift", settledBy: "the platform's limit"),
        Decision(
            id: "request-ids",
            rule: """
                `X-Request-Id` of 1 to 128 of `[A-Za-z0-9._-]` is echoed, else one is made; control requests count for \
                themselves, so that watching a run does not change it.
                """,
            place: "Sources/Platform/Namespace/World.swift", settledBy: "nothing: ids are the simulator's own"),
        Decision(
            id: "public-url",
            rule: "Absolute URLs start with `http://127.0.0.1:PORT` or `--public-url`, then `/ns/{ns}`.",
            place: "Sources/Platform/Namespace/Environment.swift",
            settledBy: "nothing: addresses are the simulator's own"),
        Decision(
            id: "images",
            rule:
                "Images are served without a token at `/images/{sha256}/original` and `/scale_micro`, the same bytes.",
            place: "Sources/Server/Controllers/CaptureController.swift", settledBy: "an image URL of the platform"),
    ]

    private static let time = [
        Decision(
            id: "clock",
            rule:
                "A namespace has a clock of its own, which tests freeze and advance; it never goes back, and stops at the end of the year 9999.",
            place: "Sources/Platform/Namespace/Clock.swift", settledBy: "nothing: the platform has no such thing"),
        Decision(
            id: "durations", rule: "A duration is at most 100 years, to the microsecond.",
            place: "Sources/Platform/Namespace/Span.swift", settledBy: "nothing: durations are the simulator's own"),
        Decision(
            id: "chance", rule: "Ids, tokens and keys follow from the namespace's random seed; their form is ours.",
            place: "Sources/Platform/Namespace/Chance.swift", settledBy: "ids and tokens of the platform"),
        Decision(
            id: "second-windows", rule: "Windows of a second start empty after a restart; login windows survive it.",
            place: "Sources/Platform/RateLimits/RateLimits.swift",
            settledBy: "nothing: restarts are the simulator's own"),
    ]

    private static let people = [
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

    private static let captures = [
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

    private static let results = [
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

    private static let flags = [
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
