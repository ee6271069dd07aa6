import Hummingbird
import Platform

extension SimServer {
    /// Everything between a connection and the namespaces, in the order in which an answer passes it; a request meets
    /// it in the opposite order.
    func responder() -> Pipeline<some RequestResponder> {
        let router = router()
        let environment = namespaces.environment
        environment.adopt(
            routes: router.routes.map { ($0.method.rawValue, $0.path.description) }.filter { !$0.1.hasPrefix("/_sim") })
        let access = ControlAccess(
            hosts: HostGuard(allowedHosts: Set(configuration.allowedHosts.map { $0.lowercased() })),
            key: ControlKey(token: configuration.controlToken))
        let routes = router.buildResponder()
        return Pipeline(
            first: RouteResponder(router: routes, routes: RouteTable(router))
                .injectingFaults(configuration.replay == nil)
                .journaled()
                .resolvingNamespaces(in: namespaces, readiness, access)
                .checkingAccess(access, environment)
                .recorded(environment.sequencer, isRecording: recorder != nil, replay: configuration.replay)
                .logged(logger, namespaces)
                .measured(metrics),
            ping: routes, readiness: readiness)
    }
}
