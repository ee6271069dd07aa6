import Simulation
import Storage

/// A day of the Gregorian calendar, written `YYYY-MM-DD`.
struct CivilDate: Sendable, Comparable {
    let year: Int
    let month: Int
    let day: Int

    /// The years that documents name.
    private static let years = 1900...9999

    private init(year: Int, month: Int, day: Int) {
        self.year = year
        self.month = month
        self.day = day
    }

    /// Reads `YYYY-MM-DD`; `nil` if the text has another form, or there is no such day from 1900 on.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == 10, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-") else { return nil }
        func number(_ range: Range<Int>) -> Int? {
            bytes[range].allSatisfy { (0x30...0x39).contains($0) }
                ? bytes[range].reduce(0) { $0 * 10 + Int($1 - 0x30) } : nil
        }
        guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
            Self.years.contains(year), (1...12).contains(month),
            (1...Self.days(of: month, year)).contains(day)
        else { return nil }
        self.init(year: year, month: month, day: day)
    }

    /// The day of a moment, in UTC.
    init(_ moment: Instant) {
        self = Self(String(moment.display.prefix(10))) ?? Self(year: 1970, month: 1, day: 1)
    }

    /// The same day in another year, within the years that documents name; 28 February instead of 29 where there is none.
    func adding(years: Int) -> Self {
        let year = min(max(self.year + years, Self.years.lowerBound), Self.years.upperBound)
        return Self(year: year, month: month, day: min(day, Self.days(of: month, year)))
    }

    /// The whole years from this day to another.
    func years(to other: Self) -> Int {
        other.year - year - ((other.month, other.day) < (month, day) ? 1 : 0)
    }

    private static func days(of month: Int, _ year: Int) -> Int {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: 31
        }
    }

    static func < (left: Self, right: Self) -> Bool {
        (left.year, left.month, left.day) < (right.year, right.month, right.day)
    }

    /// `YYYY-MM-DD`.
    var text: String { "\(year)-\(Self.padded(month))-\(Self.padded(day))" }

    /// `YYMMDD`, as in a machine-readable zone.
    var short: String { "\(Self.padded(year % 100))\(Self.padded(month))\(Self.padded(day))" }

    private static func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
