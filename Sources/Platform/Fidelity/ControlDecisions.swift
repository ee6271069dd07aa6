// What whoever tests has in hand, and how everything is said on the wire.

extension Fidelity {
    static let rules = [
        Decision(
            id: "journal",
            rule: """
                The journal keeps requests in memory and is empty after a restart: 10,000 or 16 MiB a namespace unless the settings \
                say otherwise, 64 MiB for the server, where the largest gives way. Pictures are counted and not kept. Of an answer \
                that a fault spoilt it shows what would have gone out.
                """,
            place: "Sources/Platform/Journal/Journal.swift", settledBy: "nothing: the platform has no such thing"),
        Decision(
            id: "secrets",
            rule: """
                API tokens, the control token, session tokens, signed requests and the secrets of a namespace's newest 100 subscriptions \
                are masked wherever the journal, events, deliveries, bundles' journals and the log show them; what a webhook sends, a \
                recording, an export and a bundle's database hold them as they are. One of fewer than six bytes is masked only under \
                its name, since it would be found in texts that mean something else.
                """,
            place: "Sources/Platform/Journal/Secrets.swift", settledBy: "nothing: the platform has no such thing"),
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
                without striking counts the request. A delay is an hour at most. The control API meets none. `match.username` is whose \
                session the request carries, living or not; of a login, whose signed request, once its signature is verified, also one \
                that was used or has expired. A login that a fault answers instead uses nothing up: neither the signed request nor a limit.
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

    static let wire = [
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
                Bodies are strict RFC 8259: UTF-8 without a byte order mark, no key twice (keys are compared as bytes, so a \
                composed and a decomposed é differ), no number beyond a double, at most 64 deep; the answer names line and \
                column (in bytes). Numbers are echoed to 38 digits.
                """,
            place: "Sources/EntrupyAPI/StrictJSON.swift", settledBy: "such bodies, sent to the platform"),
        Decision(
            id: "content-encoding",
            rule: """
                A body may be gzip (also written x-gzip) or identity, on every route that has one; any other coding, or gzip twice, \
                is 415 with `Accept-Encoding`. The decoded size is limited as a plain one is. What is damaged, ends early or goes on \
                behind its one member is 400; no bytes at all are no body. The journal and recordings hold what was decoded.
                """,
            place: "Sources/Server/Wire/BodyReader.swift", settledBy: "encoded bodies, sent to the platform"),
        Decision(
            id: "unknown-routes",
            rule: """
                A wrong path is 404 `unknown_route`, a wrong namespace `unknown_namespace`, so that neither looks like a missing \
                item. `details` name the nearest route, and the nearest namespace to whoever may use the control API.
                """,
            place: "Sources/Server/NearestName.swift", settledBy: "a wrong path, sent to the platform"),
        Decision(
            id: "linear-time",
            rule: """
                What a request costs grows with its length, so texts are compared as bytes. A glob has at most 1,000 bytes. Seed \
                data and scenarios have at most 100 combining marks in a row, and no mapping, list or alias as a key.
                """,
            place: "Sources/Platform/Seed/YAMLText.swift", settledBy: "nothing: the platform has no such thing"),
        Decision(
            id: "unknown-members",
            rule: """
                Unknown members of a platform body are ignored, as are unknown parameters of its query; of a control request both \
                are 400.
                """,
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
            place: "Sources/Platform/Namespace/NamespaceState.swift", settledBy: "nothing: ids are the simulator's own"),
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

    static let time = [
        Decision(
            id: "clock",
            rule: """
                A namespace has a clock of its own, which tests freeze and advance; it never goes back, and stops at the end of the \
                year 9999. Whatever would end or fall due later does so there.
                """,
            place: "Sources/Platform/Namespace/Clock.swift", settledBy: "nothing: the platform has no such thing"),
        Decision(
            id: "durations", rule: "A duration is at most 100 years, to the microsecond.",
            place: "Sources/Platform/Namespace/Span.swift", settledBy: "nothing: durations are the simulator's own"),
        Decision(
            id: "chance", rule: "Ids, tokens and keys follow from the namespace's random seed; their form is ours.",
            place: "Sources/Platform/Namespace/SeededGenerator.swift", settledBy: "ids and tokens of the platform"),
        Decision(
            id: "snapshots",
            rule: """
                A snapshot is the whole database and its pictures, without the journal; restoring one begins the journal anew, \
                and request ids go on from where they were then. A running clock goes on from the moment it was saved at. \
                Saving under a name that is taken replaces it (200, else 201); a namespace's snapshots outlive a reset and \
                go with the namespace. An upload is at most 4 GB, and is held row by row to what this program writes; a checksum in \
                its manifest finds damage.
                """,
            place: "Sources/Platform/Snapshots/Snapshots.swift",
            settledBy: "nothing: the platform has no such thing"),
        Decision(
            id: "scenarios",
            rule: """
                A scenario belongs to the namespace it was put into, outlives a reset and goes with the namespace; one of a shipped \
                scenario's name comes first. Starting one makes the namespace anew: items before subscriptions, so that nobody \
                is told of them; its settings are what a reset goes back to. `GET` and `DELETE /_sim/scenarios/{name}` and \
                `POST …/verify` are ours: 200, or 409 with what is not as expected and how it stands. A timeline that is not \
                over is not verified. A namespace that `replace` makes anew keeps its snapshots and scenarios; all else is as if its name \
                had been free. Notes name routes, methods, webhook events, brands, categories and item types that nothing matches, never \
                a user that is not there yet; an item of a category that the catalogue lacks stays 400.
                """,
            place: "Sources/Platform/Scenarios/Scenarios.swift",
            settledBy: "nothing: the platform has no such thing"),
        Decision(
            id: "settle",
            rule: """
                `POST /_sim/settle` waits for results and webhook attempts, nothing else that is due. 409 with how it stands where it could \
                not: when `within` is over, and on a frozen clock as soon as no attempt is under way, since one may release a \
                delivery that is held back.
                """,
            place: "Sources/Server/Webhooks/Settling.swift", settledBy: "nothing: the platform has no such thing"),
        Decision(
            id: "recording",
            rule: """
                A recording holds every request with the place and time of each of its jobs, and begins with a fresh world. A \
                replay runs the same jobs in the same order at the same times; ids of control requests, sizes of databases, \
                durations and what tells of the machine are not compared, archives by status and headers alone. Of a recording that \
                a killed server left, the jobs before the first missing one are run again: what ran later may follow from it. A \
                recording without requests proves nothing, so it counts as incomplete.
                """,
            place: "Sources/Platform/Recording/Replay.swift",
            settledBy: "nothing: the platform has no such thing"),
        Decision(
            id: "bundle",
            rule: """
                A bundle is a snapshot's archive with settings, seed, journal (secrets masked) and events beside it. Opened, it is the \
                default namespace; its clock stands, and no webhook that was under way is sent again.
                """,
            place: "Sources/Platform/Bundle/Bundle.swift", settledBy: "nothing: the platform has no such thing"),
        Decision(
            id: "second-windows", rule: "Windows of a second start empty after a restart; login windows survive it.",
            place: "Sources/Platform/RateLimits/RateLimits.swift",
            settledBy: "nothing: restarts are the simulator's own"),
    ]
}
