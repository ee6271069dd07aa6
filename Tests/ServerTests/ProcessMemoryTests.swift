import Foundation
import Testing

@testable import Server

/// Memory that was freed does not stay with the process.
@Suite struct ProcessMemoryTests {
    @Test func freedMemoryIsGivenBackOnceThereIsMuchMoreThanAfterTheLastTime() {
        var trimmer = MemoryTrimmer()
        var (freed, count) = (0, 0)
        func run(after change: Int) -> Int {
            freed += change
            trimmer.run {
                freed
            } release: {
                freed = min(freed, 7)
                count += 1
            }
            return count
        }
        #expect(run(after: MemoryTrimmer.minFreed - 1) == 0)
        #expect(run(after: 1) == 1)
        #expect(freed == 7)
        #expect(run(after: MemoryTrimmer.minFreed - 1) == 1, "what is stuck does not count again")
        #expect(run(after: 1) == 2)
    }

    #if os(Linux)
        /// The other tests of the process allocate too, so the amounts leave much room.
        @Test func theCLibraryGivesBackWhatWasFreed() {
            let size = 300 << 20
            var blocks = (0..<size / 4096).map { _ in calloc(1, 4000) }
            // Without it the library gives back what is at the end by itself.
            let last = calloc(1, 4000)
            let before = ProcessMemory.freed
            for block in blocks { free(block) }
            blocks = []
            #expect(ProcessMemory.freed > before + size / 2)
            ProcessMemory.releaseFreed()
            #expect(ProcessMemory.freed < before + size / 2)
            free(last)
        }
    #endif
}
