import Foundation
import FourthlineSDK
import Testing

// The Swift snippet of the Document Component's chapter on testing in the vendor's document. It does not compile as printed: it stands
// in no class, a bracket and `self?.` are missing, and `documentType`, `issuingCountry` and `orcaFlavor` are not declared. The complete
// examples are in `Examples`.

/// The lines that the snippets print.
private final class Printed {
    var lines: [String] = []
    var isOver: (() -> Void)?

    func print(_ line: String) {
        lines.append(line)
        isOver?()
    }
}

/// The snippet of the Document Component's chapter on testing.
private final class UploadViewController: UIViewController {
    let printed = Printed()
    let documentType: DocumentType = .passport
    let issuingCountry = "NLD"
    let orcaFlavor = OrcaFlavor()

    override func viewDidLoad() {
        super.viewDidLoad()
        let customization = WorkflowConfig(
            networkEnvironment: .mock
        )
        Orca
            .workflowSession(validationCode: "IDV")
            .configure(with: customization)
            .start { [weak self] result in
                switch result {
                case let .success(session):
                    self?.launchDocumentComponent(session)
                case let .failure(workflowError):
                    self?.printed.print("error: \(workflowError)")
                }
            }
    }

    func launchDocumentComponent(_ session: WorkflowSession) {
        session
            .documentComponent(
                with:
                    DocumentComponentConfig(
                        type: documentType,
                        issuingCountry: issuingCountry
                    )
            )
            .customize(with: DocumentCustomizationConfig(flavor: orcaFlavor))
            .present { [weak self] result in
                switch result {
                case let .success(documentResult):
                    self?.printed.print("document: \(documentResult.documentResult.documentType)")
                case let .failure(workflowError):
                    self?.printed.print("error: \(workflowError)")
                }
            }
    }
}

@Suite struct DocumentedSnippetTests {
    @Test @MainActor func theSnippetOfTheDocumentComponentRuns() async {
        let controller = UploadViewController()
        await withCheckedContinuation { continuation in
            controller.printed.isOver = { continuation.resume() }
            controller.viewDidLoad()
        }
        #expect(controller.printed.lines == ["document: passport"])
    }
}
