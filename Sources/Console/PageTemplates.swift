import Foundation
import Mustache
import Resources
import SimulationAPI

/// The templates of all pages. They are parsed at the first page: a server whose console is not used starts without them.
enum PageTemplates {
    private static let library = Result { try parsed() }

    private static func parsed() throws -> MustacheLibrary {
        MustacheLibrary(
            templates: try Resource.texts(in: "templates", ending: ".mustache").mapValues(EscapedHTML.template))
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
