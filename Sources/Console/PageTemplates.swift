import Foundation
import Mustache
import SimulationAPI

/// The templates of all pages. They are parsed at the first page: a server whose console is not used starts without them.
enum PageTemplates {
    private static let library = Result { try parsed() }

    private static func parsed() throws -> MustacheLibrary {
        let sources: [(String, [UInt8])] = [
            ("frame", PackageResources.frame_mustache), ("activity", PackageResources.activity_mustache),
            ("request", PackageResources.request_mustache), ("exchange", PackageResources.exchange_mustache),
            ("changes", PackageResources.changes_mustache), ("matches", PackageResources.matches_mustache),
            ("explanation", PackageResources.explanation_mustache), ("audit", PackageResources.audit_mustache),
            ("items", PackageResources.items_mustache), ("item", PackageResources.item_mustache),
            ("timeline", PackageResources.timeline_mustache), ("chart", PackageResources.chart_mustache),
            ("captures", PackageResources.captures_mustache), ("users", PackageResources.users_mustache),
            ("user", PackageResources.user_mustache), ("components", PackageResources.components_mustache),
            ("rules", PackageResources.rules_mustache), ("scenarios", PackageResources.scenarios_mustache),
            ("scenario", PackageResources.scenario_mustache), ("webhooks", PackageResources.webhooks_mustache),
            ("delivery", PackageResources.delivery_mustache), ("deliveries", PackageResources.deliveries_mustache),
            ("check", PackageResources.check_mustache), ("namespaces", PackageResources.namespaces_mustache),
            ("settings", PackageResources.settings_mustache), ("field", PackageResources.field_mustache),
            ("problem", PackageResources.problem_mustache),
            ("report", PackageResources.report_mustache),
            ("report-failure", PackageResources.report_failure_mustache),
            ("report-met", PackageResources.report_met_mustache),
            ("report-note", PackageResources.report_note_mustache),
            ("report-due", PackageResources.report_due_mustache),
            ("report-request", PackageResources.report_request_mustache),
            ("report-item", PackageResources.report_item_mustache),
            ("report-event", PackageResources.report_event_mustache),
            ("report-delivery", PackageResources.report_delivery_mustache),
            ("report-rule", PackageResources.report_rule_mustache),
            ("report-user", PackageResources.report_user_mustache),
            ("report-session", PackageResources.report_session_mustache),
            ("standalone", PackageResources.standalone_mustache),
            ("coverage", PackageResources.coverage_mustache),
            ("coverage-map", PackageResources.coverage_map_mustache),
            ("coverage-file", PackageResources.coverage_file_mustache),
        ]
        return MustacheLibrary(
            templates: try Dictionary(
                uniqueKeysWithValues: sources.map { name, bytes in
                    (name, try EscapedHTML.template(bytes))
                }))
    }

    static func render(_ frame: Frame, _ part: PagePart) throws -> String {
        // The values of the frame are those of every part, so that all templates know the namespace's paths.
        var page = try members(frame)
        let own = try members(part.view)
        page["content"] = .string(try render(page.merging(own) { $1 }, part.template))
        return try render(page, "frame")
    }

    static func render(_ view: some Encodable, _ template: String) throws -> String {
        try render(members(view), template)
    }

    private static func members(_ view: some Encodable) throws -> JSONObject {
        try JSONValue(withAbsentMembersOf: view).members ?? [:]
    }

    private static func render(_ members: JSONObject, _ template: String) throws -> String {
        guard let text = try library.get().render(ViewValue(.object(members)), withTemplate: template) else {
            throw ConsoleProblem.noTemplate(template)
        }
        return text
    }
}
