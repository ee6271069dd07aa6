import TestSupport
import Testing

/// Reads the inputs in `corpus` and a few derived from them. `make test-fuzz` reads many more.
@Suite(.serialized) struct FuzzTests {
    private static let names = FuzzTarget.all.map { $0.name }

    @Test(arguments: names) func everyInputOfTheCorpusIsRead(name: String) throws {
        let target = try #require(FuzzTarget.named(name))
        let corpus = try Corpus(target)
        #expect(!corpus.inputs.isEmpty)
        for (file, bytes) in corpus.inputs {
            #expect(throws: Never.self, "\(file)") {
                try target.prepare()
                return try target.read(bytes)
            }
        }
    }

    @Test(arguments: names) func mutatedInputsAreRead(name: String) throws {
        let target = try #require(FuzzTarget.named(name))
        let run = SeededRun(target: target, runs: 600 / target.cost, seed: 1)
        let report = try run.run()
        #expect(report.labels > 1, "every input has the same result")
    }

    @Test func theSameSeedMakesTheSameInputs() {
        let pool = [Array("{\"a\": 1}".utf8), Array("[]".utf8)]
        var first = Mutator(seed: 7, dictionary: [], maxLength: 100)
        var second = Mutator(seed: 7, dictionary: [], maxLength: 100)
        for _ in 0..<100 {
            let input = first.next(from: pool)
            #expect(input == second.next(from: pool))
            #expect(input.count <= 100)
        }
    }
}
