import Hummingbird

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

    /// All routes, by surface.
    func router() -> Router<SimContext> {
        let router = Router(context: SimContext.self, options: .autoGenerateHeadEndpoints)
        let bodies = BodyReader(timeout: configuration.bodyTimeout)
        let platform = Routes(router, bodies)
        SDKRoutes.add(to: platform)
        PartnerRoutes.add(to: router, bodies)
        PartnerBackendRoutes.add(to: platform)
        CertificateRoutes.add(to: platform)
        ComponentRoutes.add(to: Routes(router, bodies, json: .lenient))
        let control = Routes(router, bodies, under: "_sim/", isControl: true)
        ControlRoutes.add(to: control)
        JournalRoutes.add(to: control)
        EventRoutes.add(to: control)
        ScenarioRoutes(namespaces: namespaces).add(to: control)
        SnapshotRoutes(namespaces: namespaces, version: configuration.version).add(to: control)
        DescriptionRoutes().add(to: Routes(router, bodies, isControl: true))
        let description = ServerDescription(
            version: configuration.version, dataDirectory: configuration.namespaces.dataDirectory)
        ServerRoutes(namespaces: namespaces, readiness: readiness, description: description, metrics: metrics)
            .add(to: control, router)
        return router
    }
}
