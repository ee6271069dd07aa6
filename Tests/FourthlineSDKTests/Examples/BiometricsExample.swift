import FourthlineSDK

// The complete Swift example of the Biometrics Component in the vendor's document. Like there, the file imports nothing else. Its
// calls are the document's; where those do not compile, a comment says what the document has.

// Repaired: the document's functions stand in no class, although one is an override.
class BiometricsExample: UIViewController {
    // Not in the document: a test chooses where the session runs, and hears of the end.
    var environment = NetworkEnvironment.mock
    var validationCode = "from the back end"
    var onEnd: (String) -> Void = { print($0) }

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
                    // Repaired: the document has no `self?.` here, where `self` is weak.
                    self?.launchBiometricsComponent(session)
                case let .failure(workflowError):
                    self?.onEnd("session: \(workflowError)")
                }
            }
    }

    func launchBiometricsComponent(_ session: WorkflowSession) {
        var orcaFlavor = OrcaFlavor()
        var palette = OrcaPalette()
        palette.primary = UIColor(red: 82.0 / 255.0, green: 30.0 / 255.0, blue: 135.0 / 255.0, alpha: 1)
        var colors = OrcaColors(colorPalette: palette)
        colors.hint.backgroundColor = UIColor(red: 221.0 / 255.0, green: 210.0 / 255.0, blue: 232.0 / 255.0, alpha: 0.5)
        colors.box.borderColor = UIColor.gray
        colors.screen.tableCells.cellStyle2.iconColor = UIColor(
            red: 221.0 / 255.0, green: 210.0 / 255.0, blue: 3.0 / 255.0, alpha: 1)
        orcaFlavor.colors = colors

        session
            .biometricsComponent()
            // Repaired: the document lacks the last bracket of this line.
            .customize(with: SelfieCustomizationConfig(flavor: orcaFlavor))
            .present { [weak self] result in
                switch result {
                case let .success(biometricsResult):
                    self?.onEnd("biometrics: \(biometricsResult.liveness?.duration ?? "no video")")
                case let .failure(workflowError):
                    self?.onEnd("biometrics: \(workflowError)")
                }
            }
    }
}
