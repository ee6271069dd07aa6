import Foundation
import NIOConcurrencyHelpers

/// The scenarios uploaded to each namespace: files below the data directory, or texts in memory. They survive a
/// reset, and are removed with the namespace.
///
/// Every call blocks.
package final class ScenarioStore: Sendable {
    private let root: URL?
    private let durability: Durability
    private let memory = NIOLockedValueBox<[String: [String: String]]>([:])
    /// The number of temporary files so far. Each has a name of its own: two requests may save one scenario at once.
    private let temporaries = NIOLockedValueBox(0)

    /// - Parameter root: the data directory; `nil` to keep scenarios in memory.
    package init(root: String?, durability: Durability = .process) {
        self.durability = durability
        self.root = root.map { URL(fileURLWithPath: $0, isDirectory: true).appendingPathComponent("scenarios") }
    }

    /// The names of a namespace's scenarios, sorted.
    ///
    /// - Throws: ``StorageError/unavailable(_:)``.
    package func names(_ namespace: String) throws -> [String] {
        guard let root else { return memory.withLockedValue { $0[namespace, default: [:]].keys.sorted() } }
        return try PrivateFile.names(in: root.appendingPathComponent(namespace).path)
            .filter { $0.hasSuffix(Self.suffix) }.map { String($0.dropLast(Self.suffix.count)) }.sorted()
    }

    /// A scenario's text; `nil` if there is no scenario of this name.
    package func text(_ namespace: String, _ name: String) throws -> String? {
        guard let path = path(namespace, name) else { return memory.withLockedValue { $0[namespace]?[name] } }
        try PrivateFile.checkFolders(above: path)
        guard let bytes = try PrivateFile.contents(at: path) else { return nil }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw StorageError.unavailable("\(path) cannot be read: it is not UTF-8")
        }
        return text
    }

    /// Saves a scenario, and replaces any of the same name.
    ///
    /// - Returns: `true` if there was none of this name.
    package func save(_ namespace: String, _ name: String, _ text: String) throws -> Bool {
        guard let path = path(namespace, name) else {
            return memory.withLockedValue { $0[namespace, default: [:]].updateValue(text, forKey: name) == nil }
        }
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        do {
            try PrivateFile.createFolder(at: folder.deletingLastPathComponent().path)
            try PrivateFile.createFolder(at: folder.path)
            let isNew = try !PrivateFile.exists(at: path)
            try PrivateFile.replace(path, with: Data(text.utf8), number: temporaries.next(), durability: durability)
            return isNew
        } catch {
            throw StorageError.unavailable("\(path) cannot be written: \(StorageError.reason(error))")
        }
    }

    /// Saves a scenario if there is a `text`, then runs `body`. If that fails, the scenario is as before.
    package func saving<Value>(
        _ text: String?, as name: String, in namespace: String, _ body: () throws -> Value
    ) throws -> Value {
        guard let text else { return try body() }
        let before = try self.text(namespace, name)
        _ = try save(namespace, name, text)
        do {
            return try body()
        } catch {
            // The error of `body` counts. A scenario that stays only waits to be started by its name.
            _ = try? before.map { try save(namespace, name, $0) } ?? remove(namespace, name)
            throw error
        }
    }

    /// Removes a scenario; `false` if there was none.
    package func remove(_ namespace: String, _ name: String) throws -> Bool {
        guard let path = path(namespace, name) else {
            return memory.withLockedValue { $0[namespace]?.removeValue(forKey: name) != nil }
        }
        try PrivateFile.checkFolders(above: path)
        guard unlink(path) == 0 else { return false }
        if durability == .powerLoss { try Disk.synchronizeName(of: path) }
        return true
    }

    /// Removes all scenarios of namespaces.
    package func removeAll(_ namespaces: [String]) {
        memory.withLockedValue { memory in for namespace in namespaces { memory[namespace] = nil } }
        guard let root else { return }
        for namespace in Disk.existing(namespaces, in: root.path) {
            // What stays is removed at the next start, as the scenarios of no namespace.
            try? FileManager.default.removeItem(atPath: root.appendingPathComponent(namespace).path)
        }
    }

    /// Removes the scenarios of namespaces that do not exist, and temporary files. A process that is killed while it
    /// deletes a namespace or saves a scenario leaves them. Call it before the first save.
    ///
    /// - Throws: ``StorageError/unavailable(_:)`` if a folder is a link, or cannot be read.
    package func removeOrphans(except namespaces: Set<String>) throws {
        guard let root else { return }
        let folders = try PrivateFile.names(in: root.path)
        removeAll(folders.filter { !namespaces.contains($0) })
        // Temporary files of a process that was killed while it saved.
        for folder in folders where namespaces.contains(folder) {
            let path = root.appendingPathComponent(folder).path
            for name in try PrivateFile.names(in: path) where name.utf8.suffix(4).elementsEqual(".new".utf8) {
                unlink("\(path)/\(name)")
            }
        }
    }

    private static let suffix = ".yaml"

    private func path(_ namespace: String, _ name: String) -> String? {
        root?.appendingPathComponent("\(namespace)/\(name)\(Self.suffix)").path
    }
}
