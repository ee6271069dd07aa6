import TestSupport
import Testing

@testable import Server
@testable import Simulation
@testable import Storage

/// The declarations of what a comparison of two states looks at [D diff].
@Suite struct ComparedStateTests {
    private var states: [ComparedState] {
        [.ofEngine] + Platforms.simulated.all.map(\.tables.compared) + [ComparedState(ComparedState.ofWebhooks)]
    }

    private var kinds: [ComparedKind] { states.flatMap(\.kinds) }

    /// A new table is compared, or says why it is not.
    @Test func everyTableIsComparedOrLeftOutWithItsReason() {
        let tables = NamespaceDomains.declared(.simulated).map(\.name) + ["world", "sqlite_sequence"]
        let leftOut = states.flatMap { $0.leftOut.keys }
        #expect(Set(kinds.map(\.table) + leftOut) == Set(tables))
        #expect(states.flatMap(\.leftOut.values).someAndAll { !$0.isEmpty })
        #expect(Set(leftOut).count == leftOut.count)
        // A reason that is not needed any more.
        #expect(Set(leftOut).intersection(kinds.map(\.table)) == ["events"])
    }

    /// A new column is a member, or says that it is none.
    @Test func everyColumnOfAComparedTableIsNamed() {
        let domains = NamespaceDomains.declared(.simulated)
        for kind in kinds {
            let columns = domains.first { $0.name == kind.table }?.columns.map(\.name) ?? []
            #expect(!columns.isEmpty, "\(kind.table)")
            let words = Set(
                kind.members.flatMap { $0.sql.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init) })
            for column in columns {
                let isUnshown = kind.unshown.contains(column)
                #expect(words.contains(column) != isUnshown || column == "kind", "\(kind.name): \(column)")
            }
            #expect(Set(kind.unshown).isSubset(of: columns), "\(kind.name)")
        }
    }

    @Test func eachKindIsNamedOnceAndStandsBehindThoseItRefersTo() throws {
        #expect(Set(kinds.map(\.name)).count == kinds.count)
        for (index, kind) in kinds.enumerated() {
            #expect(kind.members.contains { $0.isKey }, "\(kind.name)")
            for member in kind.members {
                guard case .reference(let counted?) = member.role else { continue }
                #expect(kinds[..<index].contains { $0.counted == counted }, "\(kind.name).\(member.name)")
            }
        }
    }

    /// A name says whether it is compared, whatever kind has it.
    @Test func noNameIsBothComparedAndIgnored() {
        let ignored = Set(StateComparison.ignored(kinds))
        let compared = Set(kinds.flatMap(\.members).filter { !$0.isPlace && !$0.isIgnored }.map(\.name))
        #expect(ignored.intersection(compared) == [])
        #expect(ignored.count > 20)
    }
}
