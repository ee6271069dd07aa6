// The domains that columns of several tables share.

extension ColumnDomain {
    /// A moment on a namespace's clock.
    package static let time = integer(
        0...Instant.end.microseconds, "must be microseconds since 1970, up to the end of the year 9999")
    /// A count, far below the largest integer.
    package static let count = integer(0...1_000_000_000_000_000)
    package static let flag = integer(0...1, "must be 0 or 1")
    /// The row id of another row.
    package static let row = integer(Transaction.rowIDs)
    package static let sha256 = ColumnDomain.form("64 hexadecimal digits in lower case") { bytes in
        bytes.count == 64 && bytes.allSatisfy(\.isLowerCaseHex)
    }
    /// An id of seed data.
    package static let identifier = ColumnDomain.form("an id of 1 to 64 of a-z, 0-9 and _") { bytes in
        (1...64).contains(bytes.count)
            && bytes.allSatisfy { (0x61...0x7a).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5f }
    }
    /// Free text, up to the longest that this program stores.
    package static let prose = text(0...40_000)
    /// An email address or a person's name.
    package static let name = text(1...254)

    /// A text of a given form.
    package static func form(
        _ expectation: String, _ fits: @escaping @Sendable (UnsafeRawBufferPointer) -> Bool
    ) -> ColumnDomain {
        text(1...1000) { fits($0) ? nil : "must be \(expectation)" }
    }
}
