import Testing

@testable import Entrupy
@testable import Simulation

@Suite struct MagicItemIDTests {
    @Test(
        arguments: [
            ("sim-authentic", "authentic", nil), ("sim-unknown-after-2h-17", "unknown", "2h"),
            ("sim-not_supported-17", "not_supported", nil), ("sim-invalid-after-0.5s", "invalid", "0.5s"),
            ("sim-needs_review", "needs_review", nil), ("sim-authentic-after-all", "authentic", nil),
            ("sim-authentic-after-2hx", "authentic", nil), ("sim-unknown-after-3d-after-4d", "unknown", "3d"),
            ("sim-unknown-after-.5s", "unknown", "0.5s"), ("sim-unknown-after-5.m-x", "unknown", "5m"),
            ("sim-unknown-after-1h30m-17", "unknown", "1h30m"), ("sim-unknown-after-300ms", "unknown", "300ms"),
            ("sim-unknown-after-2h30", "unknown", nil), ("sim-unknown-after-2h-30m", "unknown", "2h"),
            ("sim-unknown-after-", "unknown", nil),
        ] as [(String, String, String?)])
    func theseIDsDecideTheResultAndDelay(text: String, result: String, delay: String?) {
        let magic = MagicItemID(text)
        #expect(magic?.result.rawValue == result)
        #expect(magic?.delay == delay.flatMap { Span($0) })
    }

    @Test(arguments: [
        "", "sim-", "sim-authentically", "SIM-authentic", "xsim-authentic", "sim-maybe", "sku-xyz",
        "sim-unknown\u{301}", "sim-\u{301}unknown",
    ])
    func theseAreOrdinaryIDs(text: String) {
        #expect(MagicItemID(text) == nil)
        #expect(MagicItemID.problem(text) == nil)
    }

    @Test(arguments: [
        "sim-unknown-after-1.2.3s", "sim-unknown-after-99999999999d", "sim-unknown-after-.s-1",
        "sim-unknown-after-..5s", "sim-unknown-after-30m1h", "sim-unknown-after-1.5h30m-2",
    ])
    func aDelayThatIsNotADurationIsReported(text: String) {
        #expect(MagicItemID(text) == nil)
        #expect(MagicItemID.problem(text) != nil)
    }
}
