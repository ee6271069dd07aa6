import Foundation
import Testing

/// Rules that the compiler cannot keep, checked in the sources.
@Suite struct SourceRulesTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The lines of code of a module that match, comments aside, each with its place.
    private func matches(_ pattern: some RegexComponent, in folder: String, except: Set<String> = []) throws -> [String]
    {
        let path = Self.root.appendingPathComponent("Sources/\(folder)").path
        var found: [String] = []
        var files = 0
        for case let name as String in FileManager.default.enumerator(atPath: path) ?? .init()
        where name.hasSuffix(".swift") && !except.contains(where: { name.hasPrefix($0) }) {
            files += 1
            let text = try String(contentsOfFile: "\(path)/\(name)", encoding: .utf8)
            for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
                let code = line.prefix { $0 != "/" || !line.contains("//") }
                if code.contains(pattern) { found.append("\(folder)/\(name):\(index + 1): \(line)") }
            }
        }
        #expect(files > 0, "\(folder) has no sources")
        return found
    }

    /// Time and chance are values: a job gets its time, and ids follow from the namespace's seed.
    @Test(arguments: ["SimulationAPI", "EntrupyAPI", "Storage", "EntrupyStorage", "Simulation", "Entrupy"])
    func nothingBelowTheServerLooksAtAClockOrDrawsByChance(module: String) throws {
        let pattern =
            #/\b(Date\(\)|Date\.now|UUID\(\)|gettimeofday|clock_gettime|DispatchTime|SystemRandomNumberGenerator|arc4random)|\.random(Element)?\(|\b(sleep|usleep|nanosleep)\(/#
        let found = try matches(pattern, in: module)
        #expect(found == [], "\(found.joined(separator: "\n"))")
    }

    /// One table knows the status of an error.
    @Test func noStatusOfAnErrorIsWrittenOutsideTheTable() throws {
        let pattern =
            #/status: \.(badRequest|unauthorized|forbidden|notFound|methodNotAllowed|requestTimeout|conflict|gone|contentTooLarge|unsupportedMediaType|unprocessableContent|tooManyRequests|internalServerError|serviceUnavailable|gatewayTimeout)\b|status: [45][0-9]{2}\b/#
        let found = try matches(pattern, in: "Server", except: ["Errors/"])
        #expect(found == [], "\(found.joined(separator: "\n"))")
        for module in ["Simulation", "Entrupy"] { #expect(try matches(#/HTTPResponse|HTTPTypes/#, in: module) == []) }
    }

    /// A template that is made otherwise escapes by characters, which lets some quotes through.
    @Test func everyTemplateEscapesByBytes() throws {
        for module in ["Console", "Server", "entrupy-sim"] {
            let found = try matches(#/MustacheTemplate\(/#, in: module, except: ["EscapedHTML.swift"])
            #expect(found == [], "\(found.joined(separator: "\n"))")
        }
    }

    /// The compiler keeps the imports; this keeps the names.
    @Test func theEngineHasNoWordOfAPlatform() throws {
        let pattern = #/\b(Capture|Flag|Retake|Certificate|Catalogue|SDK)[A-Z(.]/#
        #expect(try matches(pattern, in: "Simulation") == [])
        #expect(try matches(#/import Entrupy/#, in: "Simulation") == [])
    }
}
