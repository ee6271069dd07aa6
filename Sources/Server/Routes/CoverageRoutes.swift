import Evidence
import HTTPTypes
import Simulation
import SimulationAPI

/// `/_sim/coverage`: which documented edges were met [D coverage].
struct CoverageRoutes: Sendable {
    let coverage: CoverageLedger

    func add(to routes: Routes) {
        routes.on(.get, "coverage", show)
        routes.on(.delete, "coverage", clear)
    }

    /// Reads and clears the counts that a request is about.
    private typealias Part = (show: @Sendable () -> Coverage, clear: @Sendable () -> Void)

    @Sendable private func show(_ request: RequestReader) async -> Answer {
        await request.acknowledge(.ignored, part).map { $0.show() }.response()
    }

    @Sendable private func clear(_ request: RequestReader) async -> Answer {
        await request.acknowledge(.ignored, part).map { $0.clear() }.emptyResponse()
    }

    /// The server's own counts, unless the request names a namespace or a prefix of some.
    private func part(_ request: RequestReader) throws -> Part {
        var query = request.query
        let prefix = query.text("prefix")
        let head = request.request.head
        // The console asks within a namespace, whose name is not in the path then.
        let namesNamespace =
            request.namespace.name != Namespaces.defaultName || head.path?.begins(with: "/ns/") == true
            || NamespaceChoice.named(by: head) != nil
        if let prefix {
            if namesNamespace {
                query.report("prefix", "is for the server's namespaces: leave it out, or ask without a namespace")
            }
            let isBeginning =
                (1...63).contains(prefix.utf8.count)
                && prefix.utf8.allSatisfy {
                    (97...122).contains($0) || (48...57).contains($0) || $0 == UInt8(ascii: "-")
                }
            if !isBeginning { query.report("prefix", "must be 1 to 63 characters of a-z, 0-9 and -") }
        }
        try query.finish()
        if let prefix {
            return ({ coverage.ofNamespaces(prefix: prefix) }, { coverage.clearNamespaces(prefix: prefix) })
        }
        guard namesNamespace else { return ({ coverage.ofServer }, { coverage.clearServer() }) }
        let name = request.namespace.name
        return ({ coverage.ofNamespace(name) }, { coverage.clearNamespace(name) })
    }
}
