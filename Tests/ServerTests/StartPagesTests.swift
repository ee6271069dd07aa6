import Foundation
import Testing

@testable import Server

#if os(Linux)
    @Suite struct StartPagesTests {
        /// The kilobytes of this program's code that are mapped.
        private func mapped() throws -> Int {
            let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            var (isCounted, sum) = (false, 0)
            for line in try String(contentsOfFile: "/proc/self/smaps", encoding: .utf8).split(separator: "\n") {
                let words = line.split(separator: " ")
                if words[0].contains("-") {
                    isCounted = line.hasSuffix(" \(program)") && words[1].hasPrefix("r-x")
                } else if isCounted, words[0] == "Rss:" {
                    sum += Int(words[1]) ?? 0
                }
            }
            return sum
        }

        @Test func pagesOfTheProgramAreGivenBackAndComeAgain() throws {
            let before = try mapped()
            StartPages.release()
            let after = try mapped()
            #expect(after < before / 2, "\(before) kB, then \(after)")
            #expect(after > 0, "this test goes on")
        }
    }
#endif
