import EntrupyAPI
import Foundation
import SimulationAPI
import Storage
import TestSupport
import Testing

@testable import Entrupy
@testable import Simulation

/// Lists in pages. A page that ends with the last record is the last page: it names no next one.
@Suite struct PageRuleTests {
    /// The number of records on a page, and the cursor of the next one.
    private typealias Page = (count: Int, next: String?)

    /// Reads a list whole, in a page that ends exactly, and in two pages.
    ///
    /// - Parameter max: a page size that is larger than the list.
    private func checkEnds(max: Int = 25, _ read: (_ limit: Int, _ cursor: String?) async throws -> Page) async throws {
        let all = try await read(max, nil)
        try #require(all.count > 1 && all.count < max && all.next == nil, "\(all)")
        let exact = try await read(all.count, nil)
        #expect(exact.count == all.count && exact.next == nil, "the page ends exactly with the list")
        let first = try await read(all.count - 1, nil)
        try #require(first.next != nil)
        let rest = try await read(all.count - 1, first.next)
        #expect(first.count == all.count - 1 && rest.count == 1 && rest.next == nil)
    }

    /// A namespace with three items of one user.
    private func makeBench() async throws -> (bench: RuleBench, user: Credential) {
        let bench = try await RuleBench()
        let user = try await bench.login()
        for id in ["a", "b", "c"] {
            _ = try await bench.submit(user, id)
            await bench.wait("1s")
        }
        return (bench, user)
    }

    /// The page of an answer that is encoded already. The parts of a cursor that is an array are joined by a dot.
    private func page(_ answer: EncodedJSON) throws -> Page {
        let value = try WireJSON.decode(JSONValue.self, from: Data(buffer: answer.bytes))
        let cursor = value["next_cursor"]
        let parts = (cursor.elements ?? [cursor]).compactMap(\.text)
        return (try #require(value["items"].elements).count, parts.isEmpty ? nil : parts.joined(separator: "."))
    }

    private func parts(_ cursor: String?) -> [String]? { cursor.map { $0.split(separator: ".").map(String.init) } }

    @Test func aSearchOfAUserEndsWithItsLastItem() async throws {
        let (bench, user) = try await makeBench()
        try await checkEnds { limit, cursor in
            let request = SearchRequest(cursor: parts(cursor), limit: limit)
            return try page(try await bench.user(SearchSubmissions(request), user))
        }
    }

    @Test(arguments: [PartnerVersion.v1(minor: 2), .v1(minor: PartnerVersion.lastMinor), .v2])
    func aSearchOfAnOrganizationEndsWithItsLastItem(version: PartnerVersion) async throws {
        let (bench, _) = try await makeBench()
        try await checkEnds { limit, cursor in
            let request = SearchRequest(cursor: parts(cursor), limit: limit)
            return try page(try await bench.partner(SearchPartnerItems(request, version)))
        }
    }

    @Test func aSearchOfTheNewestSDKEndsWithItsLastItem() async throws {
        let (bench, user) = try await makeBench()
        try await checkEnds { limit, cursor in
            let request = ItemSearchRequest(limit: limit, cursor: cursor)
            return try page(try await bench.user(SearchUserItems(request), user))
        }
    }

    @Test func aListOfItemsBySubmissionEndsWithItsLastItem() async throws {
        let (bench, _) = try await makeBench()
        let filter = ListAuthentications.Filter(username: "DemoOrg-bench-user")
        try await checkEnds { limit, cursor in
            let list = try await bench.control(ListAuthentications(filter: filter, limit: limit, cursor: cursor))
            return (list.authentications.count, list.next_cursor)
        }
    }

    @Test func listsOfCapturesUsersItemsAndDeliveriesEndWithTheirLastRecord() async throws {
        let (bench, user) = try await makeBench()
        _ = try await bench.subscribe()
        for id in ["d", "e"] { _ = try await bench.submit(user, id) }
        try await checkEnds { limit, cursor in
            let list = try await bench.user(ListCaptures(status: nil, limit: limit, cursor: cursor), user)
            return (list.items.count, list.next_cursor)
        }
        try await checkEnds { limit, cursor in
            let list = try await bench.control(ListAllCaptures(status: nil, limit: limit, cursor: cursor))
            return (list.captures.count, list.next_cursor)
        }
        try await checkEnds { limit, cursor in
            let list = try await bench.control(ListUsers(limit: limit, cursor: cursor))
            return (list.users.count, list.next_cursor)
        }
        try await checkEnds { limit, cursor in
            let list = try await bench.control(ListAuthentications(limit: limit, cursor: cursor))
            return (list.authentications.count, list.next_cursor)
        }
        try await checkEnds { limit, cursor in
            let list = try await bench.control(
                ListDeliveries(status: nil, subject: nil, limit: limit, cursor: cursor))
            return (list.deliveries.count, list.next_cursor)
        }
    }

    @Test func theEventLogEndsWithItsOldestEvent() async throws {
        let (bench, _) = try await makeBench()
        try await checkEnds(max: 1000) { limit, cursor in
            let list = try await bench.control(
                ListEvents(subject: nil, kind: nil, sequences: (after: 0, before: .max), limit: limit, cursor: cursor))
            return (list.events.count, list.next_cursor)
        }
    }

    private struct Nothing: JournalHeaders, JournalBody {
        var pairs: [(name: String, value: String)] { [] }
        var data: Data { Data() }
        var bytes: Int { 0 }
    }

    @Test func theJournalEndsWithItsOldestRequest() async throws {
        let bench = try await RuleBench()
        let message = JournalEntry.Message(length: 0, kept: 0, headers: Nothing(), body: Nothing())
        let outcome = RequestOutcome(
            at: RuleBench.morning, generation: bench.namespace.outbox.generation,
            journal: .init(entries: 10, bytes: 100_000, bodyBytes: 10), secrets: [])
        for number in 1...3 {
            await bench.namespace.append(
                JournalEntry(
                    requestID: "r\(number)", method: "GET", path: "/", query: "", status: 200, milliseconds: 1,
                    outcome: outcome, request: message, response: message))
        }
        try await checkEnds { limit, cursor in
            var search = try await bench.control(ListRequests(JournalQuery(), limit: limit, cursor: cursor))
            let list = search.list()
            return (list.requests.count, list.next_cursor)
        }
    }
}
