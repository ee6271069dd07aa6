import Foundation
import GRDB
import NIOConcurrencyHelpers

extension Transaction {
    /// The latest item with a customer's id, in which `*` and `?` stand for any text and any character.
    package func latestItem(customerItemID pattern: String) throws -> String? {
        let isGlob = pattern.contains { "*?".contains($0) }
        return try first(
            """
            SELECT items.entrupy_id FROM organizations JOIN items ON items.organization_id = organizations.id
                AND items.customer_item_id \(isGlob ? "GLOB" : "=") ?
            ORDER BY items.submitted_at DESC, items.position DESC LIMIT 1
            """, [isGlob ? Self.glob(pattern) : pattern]
        ) { $0[0] }
    }

    /// The items with a customer's id, which may be a glob, oldest first.
    package func itemStates(
        customerItemID pattern: String
    ) throws -> [(customerItemID: String, result: String, flag: String)] {
        try all(
            "SELECT customer_item_id, result_id, flag_id FROM items WHERE customer_item_id GLOB ? ORDER BY position",
            [Self.glob(pattern)]
        ) { (customerItemID: $0[0], result: $0[1], flag: $0[2]) }
    }

    /// How many captures there are in each status.
    ///
    /// - Parameter pattern: a customer's id of the item, which may be a glob; nil: all captures.
    package func captureStates(customerItemID pattern: String?) throws -> [String: Int] {
        let rows: [(String, Int)] = try all(
            """
            SELECT status, COUNT(*) FROM captures
            WHERE ?1 IS NULL OR json_extract(item, '$.customer_item_id') GLOB ?1 GROUP BY status
            """, [pattern.map(Self.glob)]
        ) { ($0[0], $0[1]) }
        return Dictionary(uniqueKeysWithValues: rows)
    }

    /// The deliveries of an event, oldest first.
    package func deliveryStates(event: String) throws -> [(status: String, attempts: Int)] {
        try all("SELECT status, attempts FROM deliveries WHERE event = ? ORDER BY position", [event]) {
            (status: $0[0], attempts: $0[1])
        }
    }

    /// In SQLite's globs a bracket begins a class; here it stands for itself.
    private static func glob(_ pattern: String) -> String { pattern.replacing("[", with: "[[]") }
}

/// The scenarios each namespace was given: files below the data directory, or texts in memory. They outlive a reset and go with
/// the namespace.
///
/// Every call blocks.
package final class ScenarioStore: Sendable {
    private let root: URL?
    private let memory = NIOLockedValueBox<[String: [String: String]]>([:])

    /// - Parameter root: the data directory, or nil to keep scenarios in memory.
    package init(root: String?) {
        self.root = root.map { URL(fileURLWithPath: $0, isDirectory: true).appendingPathComponent("scenarios") }
    }

    /// The names of a namespace's scenarios, in order.
    package func names(_ namespace: String) -> [String] {
        guard let root else { return memory.withLockedValue { $0[namespace, default: [:]].keys.sorted() } }
        let folder = root.appendingPathComponent(namespace).path
        return ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
            .filter { $0.hasSuffix(Self.suffix) }.map { String($0.dropLast(Self.suffix.count)) }.sorted()
    }

    /// A scenario's text, or nil where there is none of the name.
    package func text(_ namespace: String, _ name: String) throws -> String? {
        guard let path = path(namespace, name) else { return memory.withLockedValue { $0[namespace]?[name] } }
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        do {
            return try String(contentsOfFile: path, encoding: .utf8)
        } catch {
            throw StorageError.unavailable("\(path) cannot be read: \(error.localizedDescription)")
        }
    }

    /// Keeps a scenario, in the place of any of the name; says whether there was none.
    package func keep(_ namespace: String, _ name: String, _ text: String) throws -> Bool {
        guard let path = path(namespace, name) else {
            return memory.withLockedValue { $0[namespace, default: [:]].updateValue(text, forKey: name) == nil }
        }
        let file = URL(fileURLWithPath: path)
        let isNew = !FileManager.default.fileExists(atPath: path)
        do {
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file, options: .atomic)
        } catch {
            throw StorageError.unavailable("\(path) cannot be written: \(error.localizedDescription)")
        }
        return isNew
    }

    /// Removes a scenario; false where there was none.
    package func remove(_ namespace: String, _ name: String) throws -> Bool {
        guard let path = path(namespace, name) else {
            return memory.withLockedValue { $0[namespace]?.removeValue(forKey: name) != nil }
        }
        return unlink(path) == 0
    }

    /// Removes a namespace's scenarios.
    package func removeAll(_ namespace: String) {
        memory.withLockedValue { $0[namespace] = nil }
        guard let root else { return }
        try? FileManager.default.removeItem(at: root.appendingPathComponent(namespace))
    }

    private static let suffix = ".yaml"

    private func path(_ namespace: String, _ name: String) -> String? {
        root?.appendingPathComponent("\(namespace)/\(name)\(Self.suffix)").path
    }
}
