import SimulationAPI
import Storage

extension Namespaces {
    /// All scenarios that a namespace can start.
    package func listScenarios(_ namespace: Namespace, _ head: RequestHead) async -> Completed<ScenarioList> {
        await namespace.runLongOperation(head) { [self] in
            let own = try await ownSeed(namespace)
            var scenarios: [ScenarioInfo] = []
            for name in try await scenarioNames(in: namespace) {
                // A scenario that is deleted in the meantime is not listed.
                guard let found = try await found(name, in: namespace) else { continue }
                scenarios.append(
                    try await environment.offload {
                        do {
                            return try self.document(found, name, own).info(found)
                        } catch {
                            // A scenario that became invalid is listed too, with its problem.
                            return ScenarioInfo(
                                name: name, description: "cannot be started: \(error)",
                                source: found.isShipped ? "shipped" : "namespace", actions: 0, expectations: 0)
                        }
                    })
            }
            return ScenarioList(scenarios: scenarios)
        }
    }

    /// A scenario, with its current state if it was started in this namespace. That one is also found after it was deleted.
    package func showScenario(
        _ name: String, _ namespace: Namespace, _ head: RequestHead
    ) async -> Completed<ScenarioDetails> {
        await namespace.runLongOperation(head) { [self] in
            let started = try await namespace.answer(.success(ShowScenarioRun()), .background).result.get()
            let own = try await ownSeed(namespace)
            let mine = started.flatMap { $0.run.name.isIdentical(to: name) ? $0 : nil }
            let found =
                if let mine, try await self.found(name, in: namespace) == nil {
                    FoundScenario(text: mine.text, isShipped: false)
                } else {
                    try await find(name, in: namespace)
                }
            let info = try await environment.offload { try self.document(found, name, own).info(found) }
            return ScenarioDetails(
                scenario: info, text: found.text,
                started_text: mine.flatMap { $0.text.isIdentical(to: found.text) ? nil : $0.text }, run: mine?.run)
        }
    }

    /// Validates and stores a scenario.
    package func putScenario(
        _ name: String, _ text: Result<String, PlatformError>, _ namespace: Namespace, _ head: RequestHead
    ) async -> Completed<Saved<ScenarioInfo>> {
        await namespace.runLongOperation(head) { [self] in
            let found = FoundScenario(text: try text.get(), isShipped: false)
            let own = try await ownSeed(namespace)
            // Errors in the scenario come first: they have a line.
            let document = try await environment.offload { try self.document(found, name, own) }
            guard document.name.isIdentical(to: name) else {
                throw PlatformError.invalid(
                    field: "name", "is \"\(document.name)\" in the scenario, and \"\(name)\" in the path")
            }
            try await validate(document, own)
            let environment = environment
            let isNew = try await environment.copying {
                let isNew = try environment.scenarios.save(namespace.name, name, found.text)
                try namespace.checkExists { _ = try environment.scenarios.remove(namespace.name, name) }
                return isNew
            }
            return Saved(info: document.info(found), isNew: isNew)
        }
    }

    /// Removes a scenario that was stored in a namespace.
    package func deleteScenario(_ name: String, _ namespace: Namespace, _ head: RequestHead) async -> Completed<Void> {
        await namespace.runLongOperation(head) { [environment] in
            try SnapshotName.check(name)
            guard try await environment.copying({ try environment.scenarios.remove(namespace.name, name) }) else {
                throw environment.platforms.shippedScenarios[name] == nil
                    ? PlatformError.notFound("there is no scenario \"\(name)\"; GET /_sim/scenarios lists them")
                    : .wrongState("the scenario \"\(name)\" is shipped with the server and cannot be deleted")
            }
        }
    }

    /// Starts a scenario in a namespace, which is created or recreated for it.
    ///
    /// - Parameters:
    ///   - name: the scenario's name; `nil` if `wanted` has its text.
    ///   - deadline: see ``Namespace/advanceClock(_:_:until:)``.
    package func startScenario(
        _ name: String?, _ wanted: Result<ScenarioStart, PlatformError>, _ namespace: Namespace, _ head: RequestHead,
        until deadline: SettleDeadline
    ) async -> Completed<ScenarioRun> {
        await namespace.runLongOperation(head) { [self] () async throws -> ScenarioRun in
            let wanted = try wanted.get()
            let (document, seed) = try await read(name, wanted, in: namespace)
            if wanted.isStrict {
                let notes = try document.notes(
                    ScenarioSurroundings(seed: seed, settings: environment.settings, routes: environment.routes.all))
                guard notes.isEmpty else { throw PlatformError.invalid(notes) }
            }
            await environment.prepareTemplate(of: seed)
            let started: Namespace
            if let child = wanted.namespace {
                started = try await start(document, seed, in: child, wanted, head)
            } else {
                try await namespace.restart(document, head, isStored: wanted.text != nil) { [environment] old in
                    var recipe = try NamespaceRecipe(of: old)
                    recipe.seed = seed
                    recipe.frozenAt = document.frozenAt
                    recipe.settings = environment.settings.merging(document.settings ?? .object([:]))
                    return recipe
                }
                started = namespace
            }
            // A child has a use of its own, so that it does not expire while its timeline runs.
            defer { if wanted.namespace != nil { started.endUse() } }
            let control = head.later
            if wanted.runs, let last = document.timeline.map(\.at).max() {
                _ = try await started.advanceClock(.by(last), control, until: deadline).result.get()
            }
            let shown = try await started.answer(.success(ShowScenarioRun(countsFaults: false)), control).result.get()
            guard let run = shown?.run else {
                throw PlatformError.wrongState("another request recreated the namespace in the meantime")
            }
            return run
        }
    }

    /// The scenario that is to be started, and the seed that it begins with.
    private func read(
        _ name: String?, _ wanted: ScenarioStart, in namespace: Namespace
    ) async throws -> (ScenarioDocument, Seed) {
        let own = try await ownSeed(namespace)
        let found: FoundScenario
        if let text = wanted.text {
            found = FoundScenario(text: text, isShipped: false)
        } else {
            found = try await find(name ?? "", in: namespace)
        }
        return try await environment.offload {
            let document = try self.document(found, name ?? "scenario", own)
            return (document, try document.seed.map { try self.seed($0) } ?? own)
        }
    }

    /// Starts a scenario in the namespace of a name. Creates the namespace, or recreates it if it exists and may be
    /// replaced. A use of it has begun, which the caller ends.
    ///
    /// A recreated namespace keeps its snapshots and scenarios. All else is as if the name had been free
    /// [D scenarios].
    private func start(
        _ document: ScenarioDocument, _ seed: Seed, in name: String, _ wanted: ScenarioStart, _ head: RequestHead
    ) async throws -> Namespace {
        guard name != Self.defaultName || wanted.ttl == nil else {
            throw PlatformError.invalid(
                field: "ttl", "cannot be given to the namespace \"default\", which always stays")
        }
        var recipe = try self.recipe(name, NamespaceOptions(frozenAt: document.frozenAt, ttl: wanted.ttl))
        recipe.seed = seed
        recipe.settings = recipe.settings.merging(document.settings ?? .object([:]))
        while true {
            do {
                // A stored scenario is a file, which is written on a thread for that.
                return try await create(name, isLong: wanted.text != nil, isInUse: true) { [recipe] environment in
                    try environment.scenarios.saving(wanted.text, as: document.name, in: name) {
                        try recipe.make(environment, begin: { try Scenarios.begin(document, $0, head) })
                    }
                }
            } catch let error as PlatformError where error.details == [Self.nameTaken] {
                guard wanted.replaces else {
                    throw PlatformError.wrongState(
                        "the namespace \"\(name)\" exists already; \"replace\": true recreates it and starts the scenario",
                        [ErrorDetail("namespace", "exists already; send \"replace\": true, or another name")])
                }
                do {
                    let existing = try await use(name)
                    do {
                        try await existing.restart(document, head, isStored: wanted.text != nil) { [recipe] _ in recipe
                        }
                    } catch {
                        existing.endUse()
                        throw error
                    }
                    return existing
                } catch let error as PlatformError where error.kind == .unknownNamespace {
                    // Another request has dropped the namespace, so the name is free.
                }
            }
        }
    }

    /// - Throws: ``PlatformError`` if the name is not valid, or there is no such scenario.
    private func find(_ name: String, in namespace: Namespace) async throws -> FoundScenario {
        try SnapshotName.check(name)
        if let found = try await found(name, in: namespace) { return found }
        let near = NearestName.nearest(to: name, among: try await scenarioNames(in: namespace))
        let guess = near.map { "did you mean \($0)? " } ?? ""
        throw PlatformError.notFound("there is no scenario \"\(name)\"; \(guess)GET /_sim/scenarios lists them")
    }

    /// The names of the scenarios that a namespace can start, sorted.
    private func scenarioNames(in namespace: Namespace) async throws -> [String] {
        let own = try await environment.readingFiles { [environment] in
            try environment.scenarios.names(namespace.name)
        }
        return Set(own + environment.platforms.shippedScenarios.keys).sorted()
    }

    /// The scenario of a name, the namespace's own before a shipped one; `nil` if there is none.
    private func found(_ name: String, in namespace: Namespace) async throws -> FoundScenario? {
        let own = try await environment.readingFiles { [environment] in
            try environment.scenarios.text(namespace.name, name)
        }
        if let own { return FoundScenario(text: own, isShipped: false) }
        return environment.platforms.shippedScenarios[name].map { FoundScenario(text: $0, isShipped: true) }
    }

    /// The seed of a namespace, which applies if a scenario names none.
    private func ownSeed(_ namespace: Namespace) async throws -> Seed {
        try await namespace.run(.background, .reads) { $0.state.seed }.result.get()
    }

    /// Checks the expectations of a scenario about requests against the journal of a namespace, which need not have been started
    /// from it.
    ///
    /// - Returns: the checks, and the number of expectations about other things.
    /// - Throws: ``PlatformError`` if the text is not a valid scenario.
    package func checkRequests(
        ofScenario text: String, in namespace: Namespace
    ) async throws -> (checks: [ScenarioCheck], others: Int) {
        let own = try await ownSeed(namespace)
        let document = try await environment.offload {
            try self.document(FoundScenario(text: text, isShipped: false), "scenario", own)
        }
        let wanted = document.expectations.filter(\.isAboutRequests)
        let checks = try await namespace.run(.background, .reads) { job in try wanted.map { try $0.check(job) } }.result
            .get()
        return (checks, document.expectations.count - wanted.count)
    }

    private func document(_ found: FoundScenario, _ name: String, _ own: Seed) throws -> ScenarioDocument {
        do {
            return try ScenarioDocument(
                found.text, file: "\(name).yaml", settings: environment.settings, environment.platforms,
                seedNamed: { try $0 == nil ? own : seed($0) })
        } catch let error as SeedError {
            throw PlatformError.invalid(scenario: error)
        }
    }

    /// Sets a scenario up in a scratch namespace, so that its errors are found before anything is stored.
    private func validate(_ document: ScenarioDocument, _ own: Seed) async throws {
        let environment = environment
        try await environment.copying { [self] in
            var recipe = try self.recipe("scratch", NamespaceOptions(seed: document.seed, frozenAt: document.frozenAt))
            if document.seed == nil { recipe.seed = own }
            recipe.settings = recipe.settings.merging(document.settings ?? .object([:]))
            try recipe.make(
                environment, in: environment.scratchStore, begin: { try Scenarios.begin(document, $0) }
            ).database.close()
        }
    }
}

extension Namespace {
    /// Recreates the namespace in place and begins a scenario in it.
    ///
    /// - Parameters:
    ///   - isStored: whether the scenario is stored in the namespace too.
    ///   - recipe: returns the recipe of the new state.
    fileprivate func restart(
        _ document: ScenarioDocument, _ head: RequestHead, isStored: Bool,
        _ recipe: @escaping @Sendable (NamespaceState) throws -> NamespaceRecipe
    ) async throws {
        try await replaceState(usesFiles: isStored) { [environment] old in
            try environment.scenarios.saving(isStored ? document.text : nil, as: document.name, in: old.name) {
                try recipe(old).make(
                    environment, begin: { try Scenarios.begin(document, $0, head) },
                    closeOld: { try old.database.close() })
            }
        }
    }
}

extension ScenarioDocument {
    package func info(_ found: FoundScenario) -> ScenarioInfo {
        ScenarioInfo(
            name: name, description: description, source: found.isShipped ? "shipped" : "namespace",
            actions: timeline.count, expectations: expectations.count)
    }
}

extension ScenarioRun {
    /// The actions and expectations that are not yet met or have failed.
    package var failures: [ErrorDetail] {
        timeline.enumerated().filter { $0.element.state != "done" }.map { index, action in
            ErrorDetail(
                "timeline[\(index)]",
                action.problem.map { "\(action.action) could not be done: \($0)" }
                    ?? "\(action.action) \(obstacle(to: action) ?? "has not happened")")
        }
            + expectations.enumerated().filter { !$0.element.passed }.map { index, check in
                ErrorDetail("expect[\(index)]", "\(check.expectation): \(check.problem ?? "is not so")")
            }
    }
}
