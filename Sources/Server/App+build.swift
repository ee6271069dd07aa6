import Console
import Hummingbird

extension SimServer {
    /// Everything between a connection and the namespaces, in the order in which an answer passes it; a request meets
    /// it in the opposite order.
    func responder() -> Pipeline {
        let builder = routes()
        let environment = namespaces.environment
        environment.routes.set(
            builder.operations.map { ($0.method.rawValue, $0.path) }
                .filter { !Target($0.1).isSimulators && $0.1 != "/" },
            answers: { DescribedAnswers.statuses($0, $1) ?? [] })
        let access = ControlAccess(
            hosts: hosts, key: ControlKey(token: configuration.controlToken), csrfToken: console.proof)
        let router = builder.router.buildResponder()
        // A replay counts nothing: its requests were counted when they were recorded.
        let coverage = configuration.replay == nil ? coverage : nil
        let table = RouteTable(builder, documented: coverage?.table, environment.platforms)
        let faulty = RouteResponder(router: router, routes: table).injectingFaults(configuration.replay == nil, table)
        let journaled = JournalResponder(inner: faulty, coverage: coverage)
        let resolved = NamespaceResponder(
            inner: journaled, namespaces: namespaces, readiness: readiness, access: access)
        let counted = CountingResponder(inner: resolved, coverage: coverage, routes: table, environment: environment)
        let answered = ControlResponder(inner: counted, access: access, environment: environment)
        let refuse = { @Sendable [self] (request: IncomingRequest, refusal: BoundaryRefusal) in
            let refusing = RefusingResponder(refusal: refusal, refused: refused, environment: environment)
            return try await measured(
                CountingResponder(inner: refusing, coverage: coverage, routes: table, environment: environment)
            ).respond(to: request)
        }
        let boundary = Boundary(hosts: hosts, replay: configuration.replay)
        func pipeline(around chain: some RequestResponder) -> Pipeline {
            Pipeline(
                first: { try await chain.respond(to: $0) }, boundary: boundary, refuse: refuse, ping: router,
                readiness: readiness)
        }
        // A request has on its way what its server was started with.
        let isRecorded = recorder != nil || configuration.replay != nil
        guard isRecorded || !hosts.origins.isEmpty else { return pipeline(around: measured(compressed(answered))) }
        let recorded = RecordingResponder(
            inner: answered, sequencer: environment.sequencer, isRecording: recorder != nil,
            replay: configuration.replay)
        return pipeline(around: measured(CORSResponder(inner: compressed(recorded), origins: hosts.origins)))
    }

    private func compressed<Inner>(_ inner: Inner) -> CompressingResponder<DelayResponder<Inner>> {
        CompressingResponder(
            inner: inner.delayed(), environment: namespaces.environment, isReplay: configuration.replay != nil)
    }

    private func measured<Inner>(_ inner: Inner) -> LoggingResponder<Inner> {
        LoggingResponder(inner: inner, logger: logger, namespaces: namespaces, metrics: metrics)
    }

    /// All routes, by surface.
    func routes() -> RouteBuilder {
        let builder = RouteBuilder()
        let bodies = BodyReader(timeout: configuration.bodyTimeout, environment: namespaces.environment)
        let platform = Routes(builder: builder, bodies: bodies)
        SDKRoutes.add(to: platform)
        PartnerRoutes.add(to: builder, bodies)
        PartnerBackendRoutes.add(to: platform)
        CertificateRoutes.add(to: platform)
        ComponentRoutes.add(to: Routes(builder: builder, bodies: bodies, json: .ofComponents))
        let control = Routes(builder: builder, bodies: bodies, prefix: "_sim/", shared: sharedReads)
        ControlRoutes.add(to: control)
        JournalRoutes.add(to: control)
        EvidenceRoutes(
            audits: ServerAudits(
                namespaces, keepsEnded: configuration.keepsAudits || configuration.replay?.head.keeps_audits == true)
        ).add(to: control)
        CoverageRoutes(coverage: coverage).add(to: control)
        ResendRoutes.add(to: control)
        EventRoutes().add(to: control)
        ScenarioRoutes(namespaces: namespaces, coverage: configuration.replay == nil ? coverage : nil).add(to: control)
        SnapshotRoutes(namespaces: namespaces, version: configuration.version).add(to: control)
        DescriptionRoutes(needsControlToken: configuration.controlToken != nil).add(to: platform)
        ConsoleRoutes(console: console, key: ControlKey(token: configuration.controlToken))
            .add(to: control, root: platform)
        ServerRoutes(
            namespaces: namespaces, readiness: readiness, configuration: configuration, metrics: metrics,
            authority: configuration.tls?.secure.authority, refused: refused
        )
        .add(to: control, builder.router)
        return builder
    }
}
