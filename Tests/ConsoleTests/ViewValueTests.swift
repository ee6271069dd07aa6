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
        let template = try EscapedHTML.template(template)
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

    /// A format of a value that is absent, or of another type, is nothing.
    @Test(arguments: [
        ("time(at)", "2026-01-05 09:00:00"), ("day(at)", "2026-01-05"), ("precise(at)", "09:00:00.500"),
        ("iso(at)", "2026-01-05T09:00:00.500000Z"), ("span(count)", "1 h 1 min"), ("size(count)", "3.7 kB"),
        ("words(name)", "a b/c"), ("escaped(name)", "a_b%2Fc"), ("json(count)", "3660"),
        ("s(count)", "s"), ("s(one)", ""), ("es(count)", "es"), ("es(one)", ""), ("s(name)", ""),
        ("time(name)", ""), ("words(count)", ""), ("time(none)", ""), ("unknown(at)", ""), ("count(list)", "2"),
    ])
    func valuesHaveFormats(format: String, text: String) throws {
        struct View: Encodable {
            let at = 1_767_603_600.5
            let count = 3660
            let one = 1
            let name = "a_b/c"
            let none: Double? = nil
            let list = [1, 2]
        }
        #expect(try rendered(View(), "{{\(format)}}") == text)
    }

    @Test func aPathLeadsToTheMemberOfAMember() throws {
        let view = ["a": ["b": "c"], "d": [:]]
        #expect(try rendered(view, "{{a.b}}{{#d.b}}never{{/d.b}}{{^d.b}}!{{/d.b}}") == "c!")
    }
}
