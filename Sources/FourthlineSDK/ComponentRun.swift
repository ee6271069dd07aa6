import Foundation

/// Runs one component as its script says, on the platform or offline.
struct ComponentRun: Sendable {
    private let session: WorkflowSession
    private let script: ComponentScript
    private let client: ComponentsClient

    init(_ session: WorkflowSession, _ script: ComponentScript) {
        self.session = session
        self.script = script
        client = ComponentsClient(address: session.simulation.address)
    }

    // MARK: Document

    func document(_ config: DocumentComponentConfig) async throws -> DocumentComponentResult {
        guard let id = session.id else {
            try MockComponents.check(config)
            return try MockComponents.document(config, submitted(once: "document"))
        }
        var body = ["documentType": config.type.rawValue]
        body["issuingCountry"] = config.issuingCountry
        let path = "/components/sessions/\(id)/document"
        let state = try await client.post(path, body, as: StartedComponent.self)
        let files = try await submitted(path)
        for image in state.images {
            try await upload("\(path)/images/\(image.fileSide)?angled=\(image.isAngled)", files)
        }
        if state.hasVideo != nil {
            _ = try await client.send("PUT", "\(path)/video", files.video, "video/mp4", as: Upload.self)
        }
        let answer = try await client.post("\(path)/finish", as: DocumentAnswer.self)
        guard let type = DocumentType(rawValue: answer.documentResult.documentType) else {
            throw WorkflowError.problem("the platform named an unknown type of document")
        }
        return DocumentComponentResult(
            documentResult: .init(
                documentType: type,
                images: answer.documentResult.images.map {
                    .init(
                        image: files.picture, isAngled: $0.isAngled, timestamp: $0.timestamp, fileSide: $0.fileSide,
                        location: $0.location)
                },
                mrtdMrzInfo: answer.documentResult.mrtdMrzInfo, idlMrzInfo: answer.documentResult.idlMrzInfo,
                videoRecording: answer.documentResult.videoRecording.map {
                    .init(video: files.video, duration: $0.duration, location: $0.location)
                }),
            documentAnalysis: answer.documentAnalysis)
    }

    // MARK: Biometrics

    func biometrics() async throws -> BiometricsComponentResult {
        guard let id = session.id else { return try MockComponents.biometrics(submitted(once: "biometrics")) }
        let path = "/components/sessions/\(id)/biometrics"
        let state = try await client.post(path, as: StartedComponent.self)
        let files = try await submitted(path)
        try await upload("\(path)/selfie", files)
        if state.hasVideo != nil {
            _ = try await client.send("PUT", "\(path)/liveness", files.video, "video/mp4", as: Upload.self)
        }
        let answer = try await client.post("\(path)/finish", as: BiometricsAnswer.self)
        return BiometricsComponentResult(
            selfie: .init(image: files.picture, timestamp: answer.selfie.timestamp, location: answer.selfie.location),
            liveness: answer.liveness.map {
                .init(video: files.video, duration: $0.duration, location: $0.location)
            })
    }

    // MARK: Files

    struct Files: Sendable {
        let picture: Data
        let video: Data
        let attempts: Int
    }

    /// The files of a component of a mock session, which ends once.
    private func submitted(once component: String) throws -> Files {
        guard session.ended.withLock({ $0.insert(component).inserted }) else {
            throw WorkflowError.invalidWorkflowStatus
        }
        return try submitted()
    }

    /// The files of an offline component; throws what the script says.
    private func submitted() throws -> Files {
        switch script.course {
        case .submit(let picture, let video, let attempts):
            return Files(picture: picture, video: video, attempts: attempts)
        case .cancel: throw WorkflowError.canceled
        case .fail(let error): throw error
        }
    }

    /// The files of a component that was started on the platform. A person who closes it is reported there.
    private func submitted(_ path: String) async throws -> Files {
        if case .fail(let error) = script.course {
            throw WorkflowError.problem(
                "the script .fail(\(error)) is for the mock environment; elsewhere the platform decides, for instance by an outcome rule"
            )
        }
        if case .cancel = script.course { _ = try await client.post("\(path)/cancel", as: Upload.self) }
        return try submitted()
    }

    /// Uploads a picture until its quality is good.
    private func upload(_ path: String, _ files: Files) async throws {
        var quality: String?
        for _ in 0..<files.attempts {
            quality = try await client.send("PUT", path, files.picture, "image/png", as: Upload.self).quality
            if quality == nil || quality == "ok" { return }
        }
        throw WorkflowError.problem(
            "the picture is \(quality ?? "refused") after \(files.attempts) \(files.attempts == 1 ? "attempt" : "attempts")"
        )
    }

    // MARK: Answers

    private struct StartedComponent: Decodable {
        let images: [Image]
        let hasVideo: Bool?

        struct Image: Decodable {
            let fileSide: String
            let isAngled: Bool
        }
    }

    private struct Upload: Decodable {
        let quality: String?
    }

    private struct Video: Decodable {
        let duration: String
        let location: WorkflowResults.Location?
    }

    private struct DocumentAnswer: Decodable {
        let documentResult: Document
        let documentAnalysis: WorkflowResults.Component.DocumentAnalysis?

        struct Document: Decodable {
            let documentType: String
            let images: [Image]
            let mrtdMrzInfo: WorkflowResults.MrtdMrzInfo?
            let idlMrzInfo: WorkflowResults.IdlMrzInfo?
            let videoRecording: Video?
        }

        struct Image: Decodable {
            let isAngled: Bool
            let timestamp: String
            let fileSide: String
            let location: WorkflowResults.Location?
        }
    }

    private struct BiometricsAnswer: Decodable {
        let selfie: Selfie
        let liveness: Video?

        struct Selfie: Decodable {
            let timestamp: String
            let location: WorkflowResults.Location?
        }
    }
}
