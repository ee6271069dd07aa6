import HTTPTypes
import Hummingbird
import TestSupport
import Testing

@testable import Server

/// The routes of paths.
@Suite struct RouteTreeTests {
    private static let paths = [
        "/items", "/items/{id}", "/items/{id}/notes", "/items/new/notes/{note}", "/{any}/last", "/", "/other/{id}",
        "/items/new",
    ]

    @Test(arguments: [
        ("/items", "/items"), ("items", "/items"), ("//items//", "/items"), ("/items/17", "/items/{id}"),
        ("/items/new", "/items/new"), ("/items/neww", "/items/{id}"), ("/items/ne", "/items/{id}"),
        ("/items/17/notes", "/items/{id}/notes"), ("/items/new/notes/3", "/items/new/notes/{note}"),
        // A named component belongs to its route only if that has the rest too.
        ("/items/new/notes", "/items/{id}/notes"), ("/items/last", "/items/{id}"), ("/other/last", "/other/{id}"),
        ("/x/last", "/{any}/last"), ("/", "/"), ("", "/"), ("/items/{id}", "/items/{id}"), ("/items/é", "/items/{id}"),
        ("/items/17/more", nil), ("/x", nil), ("/Items", nil), ("/items/17/notes/3/4", nil),
    ])
    func aPathLeadsToItsRoute(path: String, route: String?) {
        #expect(RouteTree(Self.paths).route(path).map { Self.paths[$0] } == route)
    }

    /// Each component of the path may be taken for either of two, and the named one wins.
    @Test func pathsOfAnyLengthAreRead() {
        let tree = RouteTree(
            (0..<8).map { depth in
                (0..<8).map { $0 == depth ? "{p}" : "a" }.joined(separator: "/")
            })
        #expect(tree.route(String(repeating: "/a", count: 8)) == 7)
        #expect(tree.route(String(repeating: "/a", count: 9)) == nil)
        #expect(tree.route(String(repeating: "/", count: 1_000_000)) == nil)
        #expect(tree.route(String(repeating: "/a", count: 500_000)) == nil)
    }

    @Test func aRouteOfTheFrameworkHasNoEndpoint() {
        let builder = RouteBuilder()
        builder.on(.get, "own/{name}") { _ in Answer(Response(status: .ok)) }
        builder.on(.delete, "own/{name}") { _ in Answer(Response(status: .ok)) }
        builder.router.get("framework") { _, _ in "" }
        let table = RouteTable(builder)
        #expect(table.route(.get, "/framework")?.isFrameworks == true)
        let own = table.route(.get, "/own/x")
        #expect(own?.isFrameworks == false && own?.path == "/own/{name}")
        #expect(own?.endpoint(.get) != nil && own?.endpoint(.head) != nil && own?.endpoint(.post) == nil)
        #expect(
            builder.operations.filter { $0.path == "/own/{name}" }.map(\.method.rawValue) == ["GET", "HEAD", "DELETE"])
    }
}
