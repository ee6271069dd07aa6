import EntrupySDK
import FourthlineSDK

// Both complete examples of the vendor's document in an app that captures items too. Every name of UIKit must be one for both
// modules. The slips are repaired as in the other two files.

/// The colors of both SDKs' screens.
class ShopTheme: EntrupyTheme {
    var borderColor: UIColor? = UIColor.gray
    var backgroundColor: UIColor? = UIColor(
        red: 221.0 / 255.0, green: 210.0 / 255.0, blue: 232.0 / 255.0, alpha: 0.5)
    var foregroundColor: UIColor? = UIColor(red: 82.0 / 255.0, green: 30.0 / 255.0, blue: 135.0 / 255.0, alpha: 1)
}

/// Verifies a person with both components, then captures an item.
class ExamplesBesideEntrupySDK: UIViewController {
    let entrupyApp = EntrupyApp.sharedInstance()
    let theme = ShopTheme()
    var environment = NetworkEnvironment.mock
    var validationCode = "from the back end"
    var steps: [String] = []
    var onEnd: ([String]) -> Void = { print($0) }

    override func viewDidLoad() {
        super.viewDidLoad()
        let customization = WorkflowConfig(
            networkEnvironment: environment
        )
        Orca
            .workflowSession(validationCode: validationCode)
            .configure(with: customization)
            .start { [weak self] result in
                switch result {
                case let .success(session):
                    self?.launchDocumentComponent(session)
                case let .failure(workflowError):
                    self?.end("session: \(workflowError)")
                }
            }
    }

    var orcaFlavor: OrcaFlavor {
        var orcaFlavor = OrcaFlavor()
        var palette = OrcaPalette()
        palette.primary = theme.foregroundColor
        var colors = OrcaColors(colorPalette: palette)
        colors.hint.backgroundColor = theme.backgroundColor
        colors.box.borderColor = theme.borderColor
        colors.screen.tableCells.cellStyle2.iconColor = UIColor(
            red: 221.0 / 255.0, green: 210.0 / 255.0, blue: 3.0 / 255.0, alpha: 1)
        orcaFlavor.colors = colors
        return orcaFlavor
    }

    func launchDocumentComponent(_ session: WorkflowSession) {
        let documentType: DocumentType = .passport
        let issuingCountry = "NLD"
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
                    let image = documentResult.documentResult.images.first.flatMap { UIImage(data: $0.image) }
                    self?.steps.append(image == nil ? "no picture" : "document")
                    self?.launchBiometricsComponent(session)
                case let .failure(workflowError):
                    self?.end("document: \(workflowError)")
                }
            }
    }

    func launchBiometricsComponent(_ session: WorkflowSession) {
        session
            .biometricsComponent()
            .customize(with: SelfieCustomizationConfig(flavor: orcaFlavor))
            .present { [weak self] result in
                switch result {
                case .success:
                    self?.steps.append("biometrics")
                    self?.capture()
                case let .failure(workflowError):
                    self?.end("biometrics: \(workflowError)")
                }
            }
    }

    func capture() {
        entrupyApp.theme = theme
        entrupyApp.captureDelegate = self
        entrupyApp.startCapture(forItem: ["brand": "Nike", "item_type": "Sneakers"], viewController: self)
    }

    func end(_ step: String) {
        steps.append(step)
        onEnd(steps)
    }
}

extension ExamplesBesideEntrupySDK: EntrupyCaptureDelegate {
    func didCaptureCompleteSuccessfully(_ result: [AnyHashable: Any], forItem item: [AnyHashable: Any]) {
        end("capture: \(item["brand"] ?? "no brand")")
    }

    func didCaptureFailWithError(
        _ errorCode: EntrupyErrorCode, description: String, localizedDescription: String,
        forItem item: [AnyHashable: Any]
    ) { end("capture: \(errorCode)") }
}
