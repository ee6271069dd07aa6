// What customers' backends see: items, webhooks, certificates.

extension Fidelity {
    static let certificates = [
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

    static let webhooks = [
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
            id: "webhook-targets",
            rule: """
                Webhooks go to loopback and private addresses alone, not to those at which clouds keep metadata \
                (169.254.0.0/16, fd00:ec2::/32, fd20:ce::254), unless the server runs with `--webhook-targets any`; and never to \
                the server itself: `localhost` and addresses in any form with its port, what it is bound to, and its public URL are \
                400 at creation, names a failed attempt. In a replay the recorded server's address counts.
                """,
            place: "Sources/Platform/Webhooks/ServerAddress.swift",
            settledBy: "nothing: the platform sends webhooks to the internet"),
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

    static let partner = [
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
}
