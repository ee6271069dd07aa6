import SimulationAPI
import Storage
import TestSupport
import Testing

@testable import Entrupy
@testable import Simulation

@Suite struct SpanTests {
    @Test(arguments: [
        ("90s", 90.0), ("30m", 1800), ("2h", 7200), ("1d", 86400), ("1.5d", 129_600), ("0.000001s", 1e-6),
        ("1h30m", 5400), ("1h59m59s", 7199), ("300ms", 0.3), ("1d2h3m4s5ms", 93_784.005), ("1m0.5s", 60.5),
        ("90m", 5400),
        ("0.5ms", 0.0005), ("36525d", 3_155_760_000),
    ])
    func durationsAreRead(text: String, seconds: Double) {
        #expect(Span(text)?.microseconds == Int64((seconds * 1e6).rounded()))
    }

    @Test(arguments: [
        "", "s", "2", "2h30", "-1s", "1e3s", "1.s", ".5s", "1.2.3s", "2 h", "2H", "36526d", "９s", "30m1h", "1h1h",
        "1.5h30m",
        "1h 30m", "36525d1ms", "ms", "1hm", "h30m", "300MS", "300us", "1w", "inf", "99999999999999999999999d", "1h30",
    ])
    func anythingElseIsRefused(text: String) {
        #expect(Span(text) == nil)
    }

    /// The text of each duration, and the duration of its text.
    @Test(arguments: [
        (0.0, "0s"), (0.3, "300ms"), (0.0005, "0.0005s"), (1.5, "1.5s"), (90, "1m30s"), (5400, "1h30m"),
        (7199, "1h59m59s"),
        (86_400, "1d"), (93_784.005, "1d2h3m4.005s"), (60.5, "1m0.5s"), (3_155_760_000, "36525d"), (1e-6, "0.000001s"),
    ])
    func aDurationHasOneText(seconds: Double, text: String) {
        #expect(Span(seconds: seconds)?.text == text)
        #expect(Span(text) == Span(seconds: seconds))
        #expect(Span(microseconds: -Int64((seconds * 1e6).rounded())).text == (seconds == 0 ? text : "-" + text))
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

    @Test(arguments: [
        ("2026-02-29T09:00:00Z", "29 February 2026 is not a date; February 2026 has 28 days"),
        ("2028-02-30", "30 February 2028 is not a date; February 2028 has 29 days"),
        ("2026-04-31T00:00:00+02:00", "31 April 2026 is not a date; April 2026 has 30 days"),
        ("2026-12-32T00:00:00Z", "32 December 2026 is not a date; December 2026 has 31 days"),
        ("2026-01-00T00:00:00Z", "0 January 2026 is not a date; January 2026 has 31 days"),
        ("2026-13-01T00:00:00Z", "2026-13-01 is not a date; a year has 12 months"),
    ])
    func aDayThatDoesNotExistIsNamed(text: String, problem: String) {
        #expect(Instant.problem(ofDate: text) == problem)
        var fields = FieldReader(["at": .string(text)])
        #expect(fields.moment("at") == nil)
        let error = #expect(throws: PlatformError.self) { try fields.finish() }
        #expect(error?.details.map(\.problem) == [problem])
    }

    @Test(arguments: ["2028-02-29T09:00:00Z", "2026-01-05", "tomorrow", "", "2026-1-40", "20260-02-31", "2026-02-2x"])
    func otherTextsHaveNoProblemWithADay(text: String) {
        #expect(Instant.problem(ofDate: text) == nil)
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
        #expect(text.dropFirst(4).someAndAll { "abcdefghijklmnopqrstuvwxyz234567".contains($0) })
    }
}
