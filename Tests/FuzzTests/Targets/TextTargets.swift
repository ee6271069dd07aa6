import EntrupyAPI
import Foundation
import HTTPTypes
import Storage

@testable import Entrupy
@testable import Server
@testable import Simulation

extension FuzzTarget {
    /// Parsers of short texts in heads, paths, queries and fields.
    static let texts = [
        FuzzTarget("glob", maxLength: 200) { input in
            // Three lines: a pattern, a text, and another pattern.
            let lines = input.split(separator: UInt8(ascii: "\n"), maxSplits: 2, omittingEmptySubsequences: false)
                .map { String(decoding: $0, as: UTF8.self) }
            let glob = Glob(lines[0])
            _ = Glob(paths: lines[0]).matches(lines.count > 1 ? lines[1] : "")
            let text = lines.count > 1 ? lines[1] : ""
            let other = Glob(lines.count > 2 ? lines[2] : "*")
            let matches = glob.matches(text)
            try FuzzFinding.require(matches == fits(lines[0], text), "\(lines[0]) and \(text): matches is \(matches)")
            let overlaps = glob.overlaps(other)
            try FuzzFinding.require(overlaps == other.overlaps(glob), "\(lines): overlaps depends on the order")
            try FuzzFinding.require(overlaps || !(matches && other.matches(text)), "\(lines): both match")
            return "\(matches) \(overlaps)"
        },
        FuzzTarget("headers", maxLength: 65_536) { input in
            let text = String(decoding: input, as: UTF8.self)
            let names: [HTTPField.Name] = [
                .acceptLanguage, .authorization, .contentType, .contentDigest, .contentLength, .requestID, .apiVersion,
                .namespace, .cookie, .origin,
            ]
            var fields = HTTPFields()
            for name in names { fields[name] = text }
            let reader = HeaderReader(fields)
            let digests = (try? reader.contentDigests())?.count ?? -1
            _ = (reader.requestID, reader.apiVersionProblem(), reader.contentLength, reader.announcesBody)
            _ = (reader.documentMediaTypeProblem, reader.isArchive, reader.isJSON)
            let request = HTTPRequest(
                method: .post, scheme: "http", authority: text, path: "/_sim/docs?token=\(text)", headerFields: fields)
            let isRefused = HostGuard(allowedHosts: ["sim.example.com"]).refusal(request, isControl: true) != nil
            if let host = HostAndPort(text) {
                let again = HostAndPort(host.host + (host.port.map { ":\($0)" } ?? ""))
                try FuzzFinding.require(again == host, "\(text) is another host when it is written")
            }
            let isLocked = ControlKey(token: "secret").refusal(request, "/_sim/docs") != nil
            _ = NamespaceChoice.named(by: request)
            return "\(reader.language) \(label("\(reader.credential)")) \(digests) \(isRefused) \(isLocked)"
        },
        FuzzTarget("query", maxLength: 65_536) { input in
            let text = String(decoding: input, as: UTF8.self)
            var reader = FieldReader(query: text[...], isStrict: true)
            _ = (reader.given("a"), reader.text("b"), reader.optionalBool("c"), reader.number("d", in: 1...25))
            _ = (reader.moment("e"), reader.word("f", ConfigType.self))
            do {
                try reader.finish()
                return "ok"
            } catch let error as PlatformError where error.kind == .invalid {
                return error.details.isEmpty ? "refused" : label(error.details[0].problem)
            }
        },
        FuzzTarget("target") { input in
            let target = Target(String(decoding: input, as: UTF8.self))
            _ = RoutePath.plain(target.path)
            try FuzzFinding.require(!target.path.isEmpty, "the path is empty")
            return "\(target.isControl) \(target.isServersOwn) \(target.namespace.isEmpty) \(target.query.isEmpty)"
        },
        FuzzTarget("fields") { input in
            let text = String(decoding: input, as: UTF8.self)
            let instant = Instant(text)
            if let instant {
                try FuzzFinding.require(Instant(instant.display) == instant, "\(instant.display) reads as another time")
            }
            let span = Span(text)
            let (target, magic) = (WebhookTarget.read(text), MagicItemID.problem(text))
            if case .success(let target) = target { _ = target.address?.isLocal }
            let decoded = Base64URL.decode(text)
            if let decoded {
                try FuzzFinding.require(
                    Base64URL.decode(Base64URL.encode(decoded)) == decoded, "base64url differs when it is written")
            }
            _ = (TextRules.emailProblem(text), TextRules.uniqueUserIDProblem(text), ItemMetadata.identifier(text))
            let isTarget = if case .success = target { true } else { false }
            return "\(instant != nil) \(span != nil) \(isTarget) \(label(magic ?? "")) \(decoded != nil)"
        },
    ]

    /// Whether a text matches a pattern, by a simple algorithm: the set of reachable positions in the pattern, one scalar at a time.
    private static func fits(_ pattern: String, _ text: String) -> Bool {
        let pattern = Array(pattern.unicodeScalars)
        func spread(_ places: Set<Int>) -> Set<Int> {
            var places = places
            for place in pattern.indices where places.contains(place) && pattern[place] == "*" {
                places.insert(place + 1)
            }
            return places
        }
        var places = spread([0])
        for scalar in text.unicodeScalars {
            var next: Set<Int> = []
            for place in places where place < pattern.count {
                if pattern[place] == "*" { next.insert(place) }
                if pattern[place] == "?" || pattern[place] == scalar { next.insert(place + 1) }
            }
            places = spread(next)
        }
        return places.contains(pattern.count)
    }
}
