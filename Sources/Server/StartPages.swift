import Foundation

/// The pages of the program's file that a start needs.
package enum StartPages {
    /// Takes the pages of the program's code out of the process, on Linux, with the constants that stand beside it in a release. They stay in
    /// the kernel's page cache, and one that is needed again comes back with its neighbours, without a read of the disk. A start leaves 35 MiB
    /// of them mapped: the dynamic linker's relocations, the command line, and what lies around functions that run once.
    package static func release() {
        #if os(Linux)
            // Without /proc they stay.
            guard let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"),
                let maps = try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8)
            else { return }
            for line in maps.split(separator: "\n") where line.hasSuffix(" \(program)") {
                // 55d0c0000000-55d0c30e2000 r-xp 00000000 fe:00 5310747 /usr/bin/entrupy-sim
                let words = line.split(separator: " ", maxSplits: 2)
                let ends = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
                // Only code is as it is in the file: constants have addresses that the dynamic linker wrote.
                guard ends.count == 2, words[1].hasPrefix("r-x") else { continue }
                madvise(UnsafeMutableRawPointer(bitPattern: ends[0]), Int(ends[1] - ends[0]), MADV_DONTNEED)
            }
        #endif
    }
}
