import SimulationAPI
import Storage
import Testing

@testable import Entrupy
@testable import Simulation

@Suite struct SpanTests {
    @Test(arguments: [
        ("90s", 90.0), ("30m", 1800), ("2h", 7200), ("1d", 86400), ("1.5d", 129_600), ("0.000001s", 1e-6),
    ])
    func durationsAreRead(text: String, seconds: Double) {
        #expect(Span(text)?.microseconds == Int64((seconds * 1e6).rounded()))
    }

    @Test(arguments: ["", "s", "2", "2h30", "-1s", "1e3s", "1.s", ".5s", "1.2.3s", "2 h", "2H", "36526d", "９s"])
    func anythingElseIsRefused(text: String) {
        #expect(Span(text) == nil)
    }

    @Test func numbersAreSeconds() {
        #expect(Span(JSONValue.number(JSONNumber(text: "0.5")))?.microseconds == 500_000)
        #expect(Span(JSONValue.number(JSONNumber(text: "-1"))) == nil)
        #expect(Span(JSONValue.number(JSONNumber(text: "1e300"))) == nil)
        #expect(Span(JSONValue.bool(true)) == nil)
    }
}

@Suite struct InstantTests {
    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000000Z"), (1_566_864_868_342_735, "2019-08-27T00:14:28.342735Z"),
        (951_782_400_000_000, "2000-02-29T00:00:00.000000Z"), (253_402_300_799_999_999, "9999-12-31T23:59:59.999999Z"),
    ])
    func displayIsISO8601WithMicroseconds(microseconds: Int, display: String) {
        #expect(Instant(microseconds: Int64(microseconds)).display == display)
        #expect(Instant(display) == Instant(microseconds: Int64(microseconds)))
    }

    @Test func offsetsAreConvertedToUTC() {
        #expect(Instant("2026-01-05T18:00:00+09:00") == Instant("2026-01-05T09:00:00Z"))
        #expect(Instant("2026-01-05T08:59:30.5-00:00") == Instant("2026-01-05T08:59:30.500000Z"))
    }

    @Test(arguments: [
        "", "2026-01-05", "2026-01-05T09:00:00", "2026-02-30T09:00:00Z", "2026-13-01T00:00:00Z",
        "2026-01-05T24:00:00Z", "2026-01-05T09:60:00Z", "2026-01-05 09:00:00Z", "2026-01-05T09:00:00.Z",
        "1969-12-31T23:59:59Z", "2026-01-05T09:00:00Zx", "2026-01-05T09:00:00+9:00", "yesterday",
    ])
    func anInvalidTimeIsRefused(text: String) {
        #expect(Instant(text) == nil)
    }
}

@Suite struct ClockTests {
    private let noon = Instant(microseconds: 1_000_000)

    @Test func aRunningClockNeverGoesBackThoughRealTimeDoes() {
        var clock = Clock(mode: .running(offset: 0), last: Instant(microseconds: 0))
        #expect(clock.now(real: noon) == noon)
        #expect(clock.now(real: Instant(microseconds: 5)) == noon)
    }

    @Test func aFrozenClockDoesNotMove() {
        var clock = Clock(mode: .frozen(noon), last: Instant(microseconds: 0))
        #expect(clock.now(real: Instant(microseconds: 9_000_000)) == noon)
        #expect(clock.realTime(of: Instant(microseconds: 9_000_000)) == nil)
    }

    @Test func aMovedRunningClockContinuesFromItsNewTime() {
        var clock = Clock(mode: .running(offset: 0), last: noon)
        clock.move(to: Instant(microseconds: 50_000_000), real: noon)
        #expect(clock.now(real: Instant(microseconds: 2_000_000)) == Instant(microseconds: 51_000_000))
        #expect(clock.realTime(of: Instant(microseconds: 60_000_000)) == Instant(microseconds: 11_000_000))
    }

    @Test func aRunningClockStopsAtTheEndOfTheYear9999AndWaitsForNothingBeyond() {
        var clock = Clock(mode: .running(offset: 0), last: noon)
        clock.move(to: .end, real: noon)
        #expect(clock.now(real: Instant(microseconds: noon.microseconds + 5)) == .end)
        #expect(clock.realTime(of: .end) == noon)
        #expect(clock.realTime(of: Instant(microseconds: Instant.end.microseconds + 1)) == nil)
    }
}

@Suite struct ChanceTests {
    @Test func theSameSeedGivesTheSameTexts() {
        #expect(
            SeededGenerator(randomSeed: 7).text(.item, counter: 1)
                == SeededGenerator(randomSeed: 7).text(.item, counter: 1))
    }

    @Test func seedCounterAndKindEachMatter() {
        let text = SeededGenerator(randomSeed: 7).text(.session, counter: 1)
        #expect(text != SeededGenerator(randomSeed: 8).text(.session, counter: 1))
        #expect(text != SeededGenerator(randomSeed: 7).text(.session, counter: 2))
        #expect(text.dropFirst(4) != SeededGenerator(randomSeed: 7).text(.capture, counter: 1).dropFirst(4))
    }

    @Test func aTextHasItsLengthAndAlphabet() {
        let text = SeededGenerator(randomSeed: 1).text(.session, counter: 3)
        #expect(text.count == 56)
        #expect(text.dropFirst(4).allSatisfy { "abcdefghijklmnopqrstuvwxyz234567".contains($0) })
    }
}
