/// The scenarios of App Components: a successful run, a blurry picture, and errors of Fourthline's documentation [S].
package enum ComponentScenarios {
    /// The texts of the scenarios, by name.
    package static let all: [String: String] = [
        "component-blurry-picture": text(PackageResources.component_blurry_picture_yaml),
        "component-canceled": text(PackageResources.component_canceled_yaml),
        "component-client-rejected": text(PackageResources.component_client_rejected_yaml),
        "component-configuration-not-supported": text(PackageResources.component_configuration_not_supported_yaml),
        "component-document-expired": text(PackageResources.component_document_expired_yaml),
        "component-document-type-invalid": text(PackageResources.component_document_type_invalid_yaml),
        "component-document-type-mismatch": text(PackageResources.component_document_type_mismatch_yaml),
        "component-document-type-not-supported": text(PackageResources.component_document_type_not_supported_yaml),
        "component-invalid-validation-code": text(PackageResources.component_invalid_validation_code_yaml),
        "component-invalid-workflow-status": text(PackageResources.component_invalid_workflow_status_yaml),
        "component-issuing-country-not-supported": text(PackageResources.component_issuing_country_not_supported_yaml),
        "component-nationality-not-supported": text(PackageResources.component_nationality_not_supported_yaml),
        "component-no-document-detected": text(PackageResources.component_no_document_detected_yaml),
        "component-person-not-adult": text(PackageResources.component_person_not_adult_yaml),
        "component-session-expired": text(PackageResources.component_session_expired_yaml),
        "component-unexpected": text(PackageResources.component_unexpected_yaml),
        "component-verified": text(PackageResources.component_verified_yaml),
    ]

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
