import Foundation
import Hashes
import SimulationAPI
import Storage

extension RequestDigests {
    /// The key of this process's digests. It is never written, so nobody can try out secrets against them.
    private static let key = HMACSHA256.withRandomKey()
    /// The length of a digest, in bytes: 2^48 requests would have one in common by chance.
    private static let length = 12

    private static func digest(_ bytes: Data) -> String {
        Hex.string(key.code(for: bytes).prefix(length))
    }

    init(_ entry: JournalEntry, members: Set<String>, _ secrets: Secrets) {
        self.init()
        credential = entry.request.value(of: "authorization").map { value in
            // The schemes `Token` and `Bearer` mean the same.
            let token = value.split(separator: " ", maxSplits: 1).last ?? ""
            return Self.digest(Data(token.utf8))
        }
        let json = entry.request.json
        if entry.request.length > 0, entry.request.isWhole {
            // The order of members, and the spaces between them, say nothing. A value that cannot be written is compared as it came.
            body = Self.digest((try? json.map { Data(try StoredJSON.encode($0).utf8) }) ?? entry.request.body.data)
        }
        sent = Self.digests(of: json, members)
        answered = Self.digests(of: entry.response.json, members)
        token_in_url = entry.hasSecretInURL(secrets)
    }

    private static func digests(of body: JSONValue?, _ members: Set<String>) -> [String: String] {
        guard let body = body?.members else { return [:] }
        return members.reduce(into: [:]) { digests, name in
            digests[name] = body[name]?.text.map { digest(Data($0.utf8)) }
        }
    }
}

extension JournalEntry.Message {
    /// Whether the whole body was kept.
    package var isWhole: Bool { kept == length }

    /// The first value of a header field.
    ///
    /// - Parameter name: in lower case.
    package func value(of name: String) -> String? { headers.pairs.first { $0.name.lowercased() == name }?.value }

    /// The body as JSON; `nil` if it is not JSON, or was not kept whole.
    package var json: JSONValue? {
        guard length > 0, isWhole, let text = String(data: body.data, encoding: .utf8) else { return nil }
        // A body that is not JSON has no members: it is looked at for nothing else.
        return try? StoredJSON.decode(text)
    }
}

extension JournalEntry {
    fileprivate func hasSecretInURL(_ secrets: Secrets) -> Bool {
        let query = String(query.dropFirst())
        return !secrets.masked(text: path).isIdentical(to: path) || !secrets.masked(query: query).isIdentical(to: query)
    }

    /// Whether the secrets of the entry can be compared. Those of a bundle without digests cannot: they are masked.
    package var hasDigests: Bool { !isMasked || storedDigests != nil }

    /// The digests of the entry's secrets: those that came with it, or else new ones. Without digests there is only what the mask
    /// shows.
    ///
    /// - Parameters:
    ///   - members: the names of the members that are secrets.
    ///   - secrets: the secrets that are masked in the entry.
    package func digests(_ members: Set<String>, _ secrets: Secrets) -> RequestDigests {
        guard hasDigests else {
            return RequestDigests(token_in_url: path.contains(Secrets.mask) || query.contains(Secrets.mask))
        }
        return storedDigests ?? RequestDigests(self, members: members, secrets)
    }
}
