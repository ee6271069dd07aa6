import TestSupport

extension Player {
    /// A client of App Components that runs the document of a workflow.
    private static func document(
        _ workflow: String = "onboarding", then next: @escaping @Sendable (TestWorld) async throws -> Void = { _ in }
    ) -> Script {
        { player, isWrong in
            let session = try await player.world.workflowSession(workflow)
            if isWrong { return }
            _ = try await player.world.runDocument(session)
            try await next(player.world)
        }
    }

    /// A client that starts a session with a new code.
    private static let session: Script = { player, isWrong in
        let code = try await player.world.validationCode()
        if isWrong { return }
        _ = try await player.world.send(
            "POST", "/components/sessions",
            ["validationCode": code["validationCode"], "networkEnvironment": "sandbox"])
    }

    static let ofComponents: [String: Script] = [
        "component-verified": { player, isWrong in
            let session = try await player.world.workflowSession()
            _ = try await player.world.runDocument(session)
            if !isWrong { _ = try await player.world.runBiometrics(session) }
        },
        "component-client-rejected": document { _ = try await $0.validationCode() },
        "component-blurry-picture": document("document-only"),
        "component-canceled": document(), "component-document-expired": document(),
        "component-document-type-invalid": document(), "component-document-type-mismatch": document(),
        "component-nationality-not-supported": document(), "component-no-document-detected": document(),
        "component-person-not-adult": document(), "component-unexpected": document(),
        "component-document-type-not-supported": document(), "component-issuing-country-not-supported": document(),
        "component-invalid-workflow-status": document(),
        "component-invalid-validation-code": session, "component-session-expired": session,
        "component-configuration-not-supported": session,
    ]
}
