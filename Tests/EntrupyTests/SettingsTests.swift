import Foundation
import SimulationAPI
import Testing

@testable import Entrupy
@testable import Simulation

@Suite struct SettingsTests {
    private func settings(_ json: String) throws -> EntrupySettings {
        try Settings(WireJSON.decode(JSONValue.self, from: Data(json.utf8)), Seed.standard())
            .part(EntrupySettings.self)
    }

    @Test func absentSettingsHaveTheirDefaults() throws {
        let settings = try settings("{}")
        #expect(settings.rateLimits == .documented)
        #expect(settings.defaultResult == .authentic)
        #expect(settings.resultDelay.microseconds == 5_000_000)
        #expect(settings.captureTimeout == Span("2h"))
        #expect(settings.sessionLifetime == .day)
        #expect(settings.flagEligible == [.authentic, .unknown], "those of the seed data")
        #expect(settings.quota == nil)
    }

    @Test func aNullHasItsDefault() throws {
        let settings = try Settings(
            .object(["capture_timeout": .null, "journal": .object(["entries": .null])]), .standard())
        #expect(settings.part(EntrupySettings.self).captureTimeout == Span("2h"))
        #expect(settings.journal.entries == 10_000)
        #expect(settings.document.members?["capture_timeout"] == .string("2h"))
    }

    @Test func numbersReplaceSomeLimitsAndLeaveTheOthers() throws {
        let limits = try settings(#"{"rate_limits": {"api_per_second": 50, "logins_per_day": null}}"#).rateLimits
        #expect(
            limits == EntrupySettings.Limits(sdkPerSecond: 100, loginsPerMinute: 5, loginsPerDay: 100, apiPerSecond: 50)
        )
        #expect(try settings(#"{"rate_limits": "off"}"#).rateLimits == .off)
    }

    @Test(arguments: [
        (#"{"x": 1}"#, "x"), (#"{"result": {"x": 1}}"#, "result.x"), (#"{"result": 1}"#, "result"),
        (#"{"result": {"default": "real"}}"#, "result.default"), (#"{"result": {"delay": "-1s"}}"#, "result.delay"),
        (#"{"capture_timeout": "0s"}"#, "capture_timeout"), (#"{"session_lifetime": "8d"}"#, "session_lifetime"),
        (#"{"rate_limits": "fast"}"#, "rate_limits"),
        (#"{"rate_limits": {"api_per_second": 0}}"#, "rate_limits.api_per_second"),
        (#"{"rate_limits": {"per_hour": 1}}"#, "rate_limits.per_hour"), (#"{"quota": 1.5}"#, "quota"),
        (#"{"flagging": {"sdk": "yes"}}"#, "flagging.sdk"),
        (#"{"flagging": {"eligible": ["x"]}}"#, "flagging.eligible[0]"),
        (#"{"result": {"initial": "authentic"}}"#, "result.initial"),
        (#"{"partner": {"sparse_items": 1}}"#, "partner.sparse_items"),
        (#"{"partner": {"sparse": true}}"#, "partner.sparse"),
        (#"{"certificates": {"show_customer_item_id": "no"}}"#, "certificates.show_customer_item_id"),
        (#"{"certificates": {"url": "https://cert.entrupy.com/"}}"#, "certificates.url"),
        (#"{"certificates": {"url": "https://cert.entrupy.com/{id}/{id}"}}"#, "certificates.url"),
        (#"{"certificates": {"url": "javascript:{id}"}}"#, "certificates.url"),
        (#"{"certificates": {"url": "https://cert.entrupy.com/?id={id}"}}"#, "certificates.url"),
        (#"{"certificates": {"url": "https://cert.entrupy.com/a b/{id}"}}"#, "certificates.url"),
        (#"{"certificates": {"url": "https://cert.entrupy.com/<b>/{id}"}}"#, "certificates.url"),
        (#"{"certificates": {"url": "https://{id}:x/"}}"#, "certificates.url"),
        (#"{"rate_limits": {"open_captures": 0}}"#, "rate_limits.open_captures"),
    ])
    func aWrongSettingIsNamed(json: String, field: String) throws {
        do {
            _ = try settings(json)
            Issue.record("accepted \(json)")
        } catch let error as PlatformError where error.kind == .invalid {
            #expect(error.details.map(\.field) == [field])
        }
    }
}
