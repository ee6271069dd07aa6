import Evidence
import Simulation

/// Why things happened in a namespace (`/_sim/explain`).
enum EvidenceRoutes {
    static func add(to routes: Routes) {
        routes.get("explain/{id}") { Explain($0.path("id")) }
    }
}
