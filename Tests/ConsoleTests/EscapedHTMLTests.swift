import Testing

@testable import Console

@Suite struct EscapedHTMLTests {
    /// In Swift, a quote and a combining mark are one character, which is not a quote. In HTML it is still a quote.
    @Test(arguments: [
        ("<", "&lt;"), (">", "&gt;"), ("&", "&amp;"), ("\"", "&quot;"), ("'", "&#39;"),
        ("a\u{e9}\u{1f469}", "a\u{e9}\u{1f469}"),
    ])
    func htmlCharactersAreEscapedEvenBeforeCombiningMarks(text: String, escaped: String) throws {
        let template = try EscapedHTML.template("<p title=\"{{x}}\">{{#y}}{{.}}{{/y}}</p>")
        for tail in ["", "\u{301}", "\u{fe0f}", "\u{200d}a", "\u{338}\u{323}"] {
            let page = template.render(["x": text + tail, "y": [text + tail]] as [String: Any])
            let wanted = "<p title=\"\(escaped)\(tail)\">\(escaped)\(tail)</p>"
            #expect(Array(page.utf8) == Array(wanted.utf8), "\(page)")
        }
    }

    /// The library forgets a template's content type in its partials.
    @Test func everyTemplateOfTheConsoleEscapesLikeThis() async throws {
        let hostile = "\"\u{301} onfocus=x"
        let console = Console(version: "1", proof: "proof-1")
        for path in [["nowhere" + hostile], ["items"], ["users"], ["requests", hostile], ["rules"]] {
            let page = await console.page(
                ConsoleRequest(
                    namespace: hostile, path: path, query: ["q": hostile, "user": hostile], isReadOnly: false,
                    url: hostile)
            ) { _ in (404, .init()) }
            #expect(page.html.utf8.count > 1000)
            let isThere = String(decoding: page.html.utf8.map { $0 < 0x80 ? $0 : 0x2e }, as: UTF8.self)
            #expect(!isThere.contains("\".. onfocus"), "\(path)")
            #expect(isThere.contains("&quot;.. onfocus"), "\(path)")
        }
    }
}
