import Foundation
import SimulationAPI
import Testing

@testable import Console

/// The fields for the arguments of fault effects, which are made from the API's description.
@Suite struct EffectFormTests {
    private static let description = #"""
        {"components":{"schemas":{
          "Length":{"examples":["90s"],"anyOf":[{"type":"string"},{"type":"number"}]},
          "FaultRequest":{"properties":{"effect":{"oneOf":[
            {"required":["status"],"properties":{"status":{"type":"integer","examples":[503]},"body":{}}},
            {"required":["delay"],"properties":{"delay":{"$ref":"#/components/schemas/Length","examples":["2s"]}}},
            {"required":["drop"],"properties":{"drop":{"const":true}}},
            {"required":["hold"],"properties":{"hold":{"oneOf":[{"const":true},{"type":"object","properties":{
              "when":{"enum":["before","after",null],"default":"before"},
              "for":{"anyOf":[{"$ref":"#/components/schemas/Length"},{"type":"null"}]}}}]}}},
            {"required":["error"],"properties":{"error":{"enum":["Canceled","Unexpected"]}}},
            {"required":["absent"],"properties":{}}]}}}}}}
        """#

    private func fields(_ names: String...) throws -> [EffectForm.Field] {
        let description = try WireJSON.decode(JSONValue.self, from: Data(Self.description.utf8))
        return DescribedForms(description).effects.fields(of: names.map { Choice($0) }, prefix: "f-")
    }

    @Test func aNumberBeginsWithTheExample() throws {
        let fields = try fields("status")
        #expect(fields.map(\.effect) == ["status"], "a part of the effect that may be absent has no field")
        #expect(fields[0].field.name == "effect.status")
        #expect(fields[0].field.id == "f-status")
        #expect(fields[0].field.input?.type == "number")
        #expect(fields[0].field.input?.value == "503")
    }

    @Test func theMembersOfAnArgumentHaveFieldsOfTheirOwn() throws {
        let fields = try fields("hold")
        #expect(fields.map(\.field.name) == ["effect.hold.for", "effect.hold.when"])
        #expect(fields.map(\.field.id) == ["f-hold-for", "f-hold-when"])
        #expect(fields[0].field.input?.value == "90s")
        #expect(fields[1].field.choice?.options.map(\.id) == ["before", "after"])
        #expect(fields[1].field.choice?.options.map(\.isChosen) == [true, false])
    }

    @Test func anExampleOfAnEffectComesBeforeThoseOfItsType() throws {
        #expect(try fields("delay").map(\.field.input?.value) == ["2s"])
    }

    @Test func anEffectWithoutAnArgumentHasNoField() throws {
        #expect(try fields("drop", "absent", "unknown").isEmpty)
    }

    @Test func onlyTheEffectsThatAreAskedForHaveFields() throws {
        #expect(try fields("delay", "error").map(\.effect) == ["delay", "error"])
    }
}
