import Foundation
import SimulationAPI
import Testing

@testable import Console

/// The form that is made from the API's description of the settings.
@Suite struct SettingsFormTests {
    private static let description = #"""
        {"components":{"schemas":{
          "Length":{"description":"How lengths are written.","examples":["90s","1h30m","1d"],
            "anyOf":[{"type":"string"},{"type":"number"}]},
          "Colour":{"enum":["red","green"]},
          "RateLimits":{"anyOf":[{"enum":["off"]},{"properties":{"a_second":{},"a_day":{}}}]},
          "Loop":{"$ref":"#/components/schemas/Loop"},
          "SettingsPatch":{"properties":{
            "loop":{"$ref":"#/components/schemas/Loop"},
            "rate_limits":{"type":"string"},
            "capture_timeout":{"description":"The time until `it` ends.",
              "anyOf":[{"$ref":"#/components/schemas/Length"},{"type":"null"}]},
            "paint":{"description":"About paint.","type":["object","null"],"properties":{
              "colour":{"anyOf":[{"$ref":"#/components/schemas/Colour"},{"type":"null"}]},
              "status":{"enum":[401,403,null]},
              "is_wet":{"type":["boolean","null"]},
              "layers":{"type":["integer","null"]},
              "gaps":{"type":["array","null"],"items":{"$ref":"#/components/schemas/Length"}}}}}}}}}
        """#

    private func groups(_ settings: String) throws -> [SettingsForm.Group] {
        let description = try WireJSON.decode(JSONValue.self, from: Data(Self.description.utf8))
        let values = try WireJSON.decode(JSONValue.self, from: Data(settings.utf8))
        return DescribedForms(description).settings.groups(values)
    }

    @Test func settingsThatStandAloneComeFirst() throws {
        let groups = try groups(#"{"capture_timeout":"2h"}"#)
        #expect(groups.map(\.id) == ["general", "paint"])
        #expect(groups.map(\.about) == [nil, "About paint."])
        let field = try #require(groups[0].fields.first)
        #expect(
            groups[0].fields.map(\.name) == ["capture_timeout", "loop"], "the rate limits have a form of their own")
        let description = try WireJSON.decode(JSONValue.self, from: Data(Self.description.utf8))
        #expect(DescribedForms(description).settings.limits == ["a_day", "a_second"])
        #expect(field.label == "Capture timeout")
        #expect(field.input?.value == "2h")
        #expect(field.hint == "The time until it ends. For instance 90s or 1h30m.")
    }

    @Test func theTypeOfAFieldIsThatOfItsSchema() throws {
        let settings =
            #"{"paint":{"colour":"green","status":403,"is_wet":true,"layers":3,"gaps":["1s","2s"]}}"#
        let fields = try #require(try groups(settings).last?.fields)
        #expect(fields.map(\.name) == ["colour", "gaps", "is_wet", "layers", "status"].map { "paint.\($0)" })
        #expect(fields[0].choice?.type == "text")
        #expect(fields[0].choice?.options.map(\.id) == ["red", "green"])
        #expect(fields[0].choice?.options.map(\.isChosen) == [false, true])
        #expect(fields[1].input?.type == "list")
        #expect(fields[1].input?.value == "1s, 2s")
        #expect(fields[1].hint == "Separated by commas.")
        #expect(fields[2].hint == nil)
        #expect(fields[2].flag?.isOn == true)
        #expect(fields[3].input?.type == "number")
        #expect(fields[4].choice?.type == "number")
        #expect(fields[4].choice?.options.map(\.id) == ["401", "403"])
    }

    /// Nothing of a description that is something else may end the page.
    @Test(arguments: ["null", "[]", #"{"components":{"schemas":{"SettingsPatch":{"properties":[]}}}}"#])
    func anotherDescriptionMakesNoFields(text: String) throws {
        let description = try WireJSON.decode(JSONValue.self, from: Data(text.utf8))
        #expect(DescribedForms(description).settings.groups(.object([:])).isEmpty)
    }
}
