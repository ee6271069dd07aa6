import SimulationAPI
import Storage

/// `POST /_sim/requests/verify` with `sequence`: checks that requests came in an order, with any others between them
/// [D sequences].
package struct VerifySequence: Operation, Reads {
    package static let isLong = true
    let sequence: RequestSequence

    /// - Throws: ``PlatformError`` with the step that failed and its near misses.
    package func perform(_ job: JobContext, as caller: Control) throws -> SequenceVerification {
        let journal = job.journal
        let secrets = try job.state.readSecrets(job.transaction)
        let hidden = sequence.steps.enumerated().flatMap { $1.secretProblems(secrets, "sequence[\($0)].") }
        if !hidden.isEmpty { throw PlatformError.invalid(hidden) }
        let search = SequenceSearch(sequence, in: journal)
        guard let step = search.failedStep else {
            guard let places = search.places else {
                throw PlatformError.bug("a sequence that was found has no requests")
            }
            let requests = places.map { place in
                let entry = journal[place]
                return VerifiedRequest(
                    id: Secrets(entry, secrets).masked(text: entry.requestID), sequence: entry.sequence)
            }
            return SequenceVerification(verified: true, requests: requests)
        }
        let nearest = search.nearestMisses(limit: VerifyRequests.maxMisses).map { place, obstacle in
            let entry = journal[place]
            let differences = sequence.steps[step].differences(entry, Secrets(entry, secrets))
            return NearMiss(entry, differences + [obstacle].compactMap(\.self), secrets)
        }
        throw PlatformError.outOfSequence(
            message(search, step, forgotten: job.state.environment.journals.forgotten(of: job.state.name)), step: step,
            nearest)
    }

    private func message(_ search: SequenceSearch, _ step: Int, forgotten: Forgotten?) -> String {
        var text = "sequence[\(step)] (\(sequence.steps[step].summary)) "
        if step == 0 {
            text += "was not found"
        } else if search.failedByGap {
            text += "followed sequence[\(step - 1)], but not with the expected gap (\(sequence.gaps.text))"
        } else {
            text += "did not follow sequence[\(step - 1)] (\(sequence.steps[step - 1].summary))"
        }
        let unjudged = search.unjudgedCount
        if unjudged > 0 {
            text +=
                "; gaps were not judged for \(unjudged) request\(unjudged == 1 ? "" : "s") without real times"
        }
        if let forgotten {
            text +=
                "; the journal has forgotten requests up to \(forgotten.at.display), so the sequence may have begun before: let it keep more (settings journal.entries and journal.bytes)"
        }
        return text
    }
}

/// `POST /_sim/requests/verify`: a number of requests, or a sequence of them.
package enum VerifyJournal {
    case count(VerifyRequests)
    case sequence(VerifySequence)
}

extension RequestSequence {
    /// Reads `sequence`, `min_gap` and `max_gap`.
    ///
    /// - Parameters:
    ///   - members: the names of a step's members.
    ///   - check: reports problems with a step that was read.
    package init(
        _ fields: inout FieldReader, members: [String], check: (JournalQuery, inout FieldReader) -> Void
    ) {
        let expected = "must be a list of 1 to \(Self.maxSteps) steps such as {\"route\": \"/sdk/login\"}"
        fields.require("sequence")
        let steps = fields.list("sequence", expected, counts: 1...Self.maxSteps) { fields, name in
            var step = fields.object(name, known: members)
            let query = JournalQuery(&step, isJudgement: true)
            check(query, &step)
            return query
        }
        let gaps = GapBounds(min: fields.span("min_gap"), max: fields.span("max_gap"))
        if let min = gaps.min, let max = gaps.max, min > max {
            fields.report("min_gap", "must not be more than max_gap")
        }
        if steps?.count == 1 {
            for name in ["min_gap", "max_gap"] where fields.value(name) != nil {
                fields.report(name, "needs a sequence of at least two steps")
            }
        }
        self.init(steps: steps ?? [], gaps: gaps)
    }
}

extension JournalQuery {
    /// The query in words, for instance `POST /sdk/login -> 429 by DemoOrg-x`.
    package var summary: String {
        let parts = [
            method, route?.pattern ?? "*", status.map { "-> \($0.text)" }, deliveryText,
            username.map { "by \($0)" }, test.map { "of test \($0)" },
        ]
        return parts.compactMap(\.self).joined(separator: " ")
    }

    /// The wanted delivery in words; `nil` if it is the usual one.
    private var deliveryText: String? {
        switch delivered {
        case true?: status == nil ? "delivered" : nil
        case false?: "not delivered"
        case nil: status == nil ? nil : "delivered or not"
        }
    }
}
