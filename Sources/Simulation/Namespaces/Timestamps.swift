import Storage

extension Instant {
    /// ISO 8601 UTC with microseconds, for instance `2019-08-27T00:14:28.342735Z` [P].
    package var display: String {
        let (days, rest) = microseconds.quotientAndRemainder(floored: 86_400_000_000)
        let (year, month, day) = Self.civil(daysSinceEpoch: days)
        func padded(_ value: Int64, _ width: Int) -> String {
            let digits = String(value)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        let seconds = rest / 1_000_000
        return """
            \(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))T\
            \(padded(seconds / 3600, 2)):\(padded(seconds / 60 % 60, 2)):\(padded(seconds % 60, 2))\
            .\(padded(rest % 1_000_000, 6))Z
            """
    }

    /// The same in whole seconds, rounded down, as `/v2` has times: `2025-05-23T10:00:00Z` [P].
    package var wholeSeconds: String {
        String(decoding: display.utf8.dropLast(".000000Z".utf8.count), as: UTF8.self) + "Z"
    }

    /// Parses an ISO 8601 date and time with `Z` or an offset, from 1970 to 9999; `nil` if the text is anything else.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        func number(_ range: Range<Int>) -> Int64? {
            guard range.upperBound <= bytes.count else { return nil }
            return bytes[range].allSatisfy { (0x30...0x39).contains($0) }
                ? bytes[range].reduce(0) { $0 * 10 + Int64($1 - 0x30) } : nil
        }
        func has(_ character: Character, at index: Int) -> Bool {
            index < bytes.count && bytes[index] == character.asciiValue
        }
        guard let year = number(0..<4), has("-", at: 4), let month = number(5..<7), has("-", at: 7),
            let day = number(8..<10), has("T", at: 10), let hour = number(11..<13), has(":", at: 13),
            let minute = number(14..<16), has(":", at: 16), let second = number(17..<19),
            (1...12).contains(month), day >= 1, hour < 24, minute < 60, second < 60
        else { return nil }
        let days = Self.days(year: year, month: month, day: day)
        guard Self.civil(daysSinceEpoch: days) == (year, month, day) else { return nil }

        var index = 19
        var fraction: Int64 = 0
        if has(".", at: index) {
            index += 1
            let start = index
            while index < bytes.count, (0x30...0x39).contains(bytes[index]) { index += 1 }
            guard (1...9).contains(index - start) else { return nil }
            let digits = bytes[start..<index].prefix(6) + Array(repeating: 0x30, count: max(0, 6 - (index - start)))
            fraction = digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
        }
        var offset: Int64 = 0
        if has("Z", at: index) {
            guard index + 1 == bytes.count else { return nil }
        } else {
            guard has("+", at: index) || has("-", at: index), let hours = number(index + 1..<index + 3),
                has(":", at: index + 3), let minutes = number(index + 4..<index + 6), index + 6 == bytes.count,
                hours < 24, minutes < 60
            else { return nil }
            offset = (hours * 3600 + minutes * 60) * (has("-", at: index) ? -1 : 1)
        }
        let seconds = days * 86400 + hour * 3600 + minute * 60 + second - offset
        self.init(microseconds: seconds * 1_000_000 + fraction)
        guard microseconds >= 0, self <= .end else { return nil }
    }

    /// The problem of a text that begins like a date of ISO 8601 but with a day that does not exist, for instance
    /// `29 February 2026 is not a date`; `nil` for all other texts.
    package static func problem(ofDate text: String) -> String? {
        let parts = text.utf8.prefix(10).split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part in
            part.allSatisfy { (0x30...0x39).contains($0) } ? Int64(String(decoding: part, as: UTF8.self)) : nil
        }
        guard parts.map(\.count) == [4, 2, 2], numbers.count == 3 else { return nil }
        let (year, month, day) = (numbers[0], numbers[1], numbers[2])
        guard (1...12).contains(month) else {
            return "\(String(decoding: text.utf8.prefix(10), as: UTF8.self)) is not a date; a year has 12 months"
        }
        guard day < 1 || civil(daysSinceEpoch: days(year: year, month: month, day: day)) != (year, month, day) else {
            return nil
        }
        let months = [
            "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
            "November",
            "December",
        ]
        let next = month == 12 ? days(year: year + 1, month: 1, day: 1) : days(year: year, month: month + 1, day: 1)
        let name = months[Int(month) - 1]
        let last = next - days(year: year, month: month, day: 1)
        return "\(day) \(name) \(year) is not a date; \(name) \(year) has \(last) days"
    }

    /// Converts epoch seconds, from 1970 to 9999; `nil` if `epoch` is outside that range.
    package init?(epoch: Double) {
        guard epoch >= 0, epoch * 1e6 <= Double(Self.end.microseconds) else { return nil }
        self.init(microseconds: Int64((epoch * 1e6).rounded()))
        // As a double, the bound is rounded up, so the exact value is checked too.
        guard self <= .end else { return nil }
    }

    // Conversions between days and dates of the proleptic Gregorian calendar. They count in eras of 400 years that
    // begin in March.

    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = year.quotientAndRemainder(floored: 400)
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civil(daysSinceEpoch: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = (daysSinceEpoch + 719_468).quotientAndRemainder(floored: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }
}

extension Int64 {
    fileprivate func quotientAndRemainder(floored divisor: Int64) -> (Int64, Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
