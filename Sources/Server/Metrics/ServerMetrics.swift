import Foundation
import NIOConcurrencyHelpers
import Simulation

/// Counts and times requests by route, not by namespace: a server can have thousands of namespaces.
final class ServerMetrics: Sendable {
    private struct Route: Hashable {
        let method: String
        let path: String
    }

    /// The answers of one route. Their times are counted by upper bounds, in seconds.
    private struct Answers {
        static let bounds = [
            0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 2.5, 10,
        ]
        var statuses: [Int?: Int] = [:]
        var buckets = Array(repeating: 0, count: bounds.count)
        var seconds = 0.0

        mutating func add(_ status: Int?, after seconds: Double) {
            statuses[status, default: 0] += 1
            self.seconds += seconds
            if let bucket = Self.bounds.firstIndex(where: { seconds <= $0 }) { buckets[bucket] += 1 }
        }
    }

    private static let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

    private let answers = NIOLockedValueBox<[Route: Answers]>([:])
    private let started = ContinuousClock.now

    var uptime: Duration { ContinuousClock.now - started }

    /// Counts an answer.
    ///
    /// - Parameters:
    ///   - route: the route's pattern, which limits the number of series to the number of routes. `none` if no route
    ///     matched.
    ///   - status: `nil` if a fault lost the request before it was handled.
    func answered(method: String, route: String, status: Int?, after duration: Duration) {
        let known = Self.methods.contains(method) ? method : "other"
        answers.withLockedValue {
            $0[Route(method: known, path: route), default: Answers()].add(status, after: duration / .seconds(1))
        }
    }

    /// All metrics in Prometheus' text format, version 0.0.4, in the order of their names and labels.
    func text(of namespaces: Namespaces) -> String {
        let routes = answers.withLockedValue { $0 }
            .map { (labels: ["method=\"\($0.method)\"", "route=\"\($0.path)\""], answers: $1) }
            .sorted { $0.labels.lexicographicallyPrecedes($1.labels) }
        return Self.gauge("entrupy_sim_namespaces", "Number of namespaces.", namespaces.unordered().count)
            + Self.gauge(
                "entrupy_sim_open_databases", "Namespaces on disk that have an open connection.",
                namespaces.openDatabases)
            + Self.metric(
                "entrupy_sim_request_duration_seconds", "histogram",
                "From the request's head to its answer, by method and route.",
                routes.flatMap { Self.times($0.answers, $0.labels.joined(separator: ",")) })
            + Self.metric(
                "entrupy_sim_requests_total", "counter", "Requests answered, by method, route and status.",
                routes.flatMap { labels, answers in
                    answers.statuses.map { (status: $0.map { "\($0)" } ?? "none", count: $1) }
                        .sorted { $0.status < $1.status }
                        .map { "{\(labels.joined(separator: ",")),status=\"\($0.status)\"} \($0.count)" }
                })
            + Self.gauge("entrupy_sim_uptime_seconds", "Real time since the start.", Int(uptime.components.seconds))
            + (ProcessMemory.resident.map {
                Self.gauge("process_resident_memory_bytes", "Resident memory size in bytes.", $0)
            } ?? "")
    }

    /// A metric whose lines lack its name; empty if it has none.
    private static func metric(_ name: String, _ type: String, _ help: String, _ lines: [String]) -> String {
        lines.isEmpty
            ? "" : "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n" + lines.map { "\(name)\($0)\n" }.joined()
    }

    private static func gauge(_ name: String, _ help: String, _ value: Int) -> String {
        metric(name, "gauge", help, [" \(value)"])
    }

    private static func times(_ answers: Answers, _ labels: String) -> [String] {
        var below = 0
        let buckets = zip(Answers.bounds, answers.buckets).map { bound, count in
            below += count
            return "_bucket{\(labels),le=\"\(bound)\"} \(below)"
        }
        let count = answers.statuses.values.reduce(0, +)
        return buckets + [
            "_bucket{\(labels),le=\"+Inf\"} \(count)", "_sum{\(labels)} \(answers.seconds)",
            "_count{\(labels)} \(count)",
        ]
    }
}
