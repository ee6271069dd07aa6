import FourthlineSDK

/// The part of an app that verifies persons. It uses UIKit's names through the vendor's module alone.
public final class IdentityController: UIViewController {
    public var color: UIColor? = UIColor.gray
    public var onEnd: ((Bool) -> Void)?

    public override func viewDidLoad() {
        super.viewDidLoad()
        Orca.workflowSession(validationCode: "IDV").configure(with: WorkflowConfig(networkEnvironment: .mock))
            .start { [weak self] result in
                guard case .success(let session) = result else { return self?.onEnd?(false) ?? () }
                self?.verify(session)
            }
    }

    private func verify(_ session: WorkflowSession) {
        var palette = OrcaPalette()
        palette.primary = color
        let flavor = OrcaFlavor(colors: OrcaColors(colorPalette: palette))
        session.biometricsComponent().customize(with: SelfieCustomizationConfig(flavor: flavor))
            .present { [weak self] result in
                guard case .success = result else { return self?.onEnd?(false) ?? () }
                self?.onEnd?(true)
            }
    }
}
