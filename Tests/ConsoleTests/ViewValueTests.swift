import Mustache
import SimulationAPI
import Testing

@testable import Console

/// Views as templates read them.
@Suite struct ViewValueTests {
    private struct Outer: Encodable {
        let name = "outer"
        let rows: Rows<Row>?
        let text = "<b>&\""
        let flag = false
        let count = 0
    }

    private struct Row: Encodable, Sendable {
        let name: String?
        let link: String?
    }

    private func rendered(_ view: some Encodable, _ template: String) throws -> String {
        let template = try EscapedHTML.template(Array(template.utf8))
        return template.render(ViewValue(try JSONValue(withAbsentMembersOf: view)))
    }

    @Test func anAbsentMemberIsNotThatOfAnOuterObject() throws {
        let view = Outer(rows: Rows([Row(name: "inner", link: "/a"), Row(name: nil, link: nil)]))
        let template =
            "{{#rows}}{{#each}}[{{name}}{{#link}} {{link}}{{/link}}{{^link}} none{{/link}}]{{/each}}{{/rows}}"
        #expect(try rendered(view, template) == "[inner /a][ none]")
    }

    @Test func anEmptyListIsAbsent() throws {
        let template = "{{#rows}}rows{{/rows}}{{^rows}}nothing{{/rows}}"
        #expect(try rendered(Outer(rows: Rows([Row]())), template) == "nothing")
        #expect(try rendered(Outer(rows: Rows([Row(name: nil, link: nil)])), template) == "rows")
    }

    @Test func textsAreEscapedAndFalseIsNothing() throws {
        let template = "{{text}} {{#flag}}yes{{/flag}}{{^flag}}no{{/flag}} {{count}}{{#count}}!{{/count}}"
        #expect(try rendered(Outer(rows: nil), template) == "&lt;b&gt;&amp;&quot; no 0!")
    }

    @Test func aPathLeadsToTheMemberOfAMember() throws {
        let view = ["a": ["b": "c"], "d": [:]]
        #expect(try rendered(view, "{{a.b}}{{#d.b}}never{{/d.b}}{{^d.b}}!{{/d.b}}") == "c!")
    }
}
