import CoreMetrics
import Foundation
import NIOConcurrencyHelpers
import Simulation

/// Counts and times requests by route, not by namespace: a server can have thousands of namespaces.
final class ServerMetrics: Sendable {
    private struct Request: Hashable {
        let method: String
        let route: String
        let status: Int?
    }

    private struct Handles: Sendable {
        let count: Counter
        let duration: CoreMetrics.Timer
    }

    private static let requests = PrometheusMetrics.Description(
        name: "entrupy_sim_requests_total", help: "Requests answered, by method, route and status.")
    private static let durations = PrometheusMetrics.Description(
        name: "entrupy_sim_request_duration_seconds",
        help: "From the request's head to its answer, by method and route.")
    private static let namespaces = PrometheusMetrics.Description(
        name: "entrupy_sim_namespaces", help: "Number of namespaces.")
    private static let connections = PrometheusMetrics.Description(
        name: "entrupy_sim_open_databases", help: "Namespaces on disk that have an open connection.")
    private static let memory = PrometheusMetrics.Description(
        name: "process_resident_memory_bytes", help: "Resident memory size in bytes.")
    private static let uptime = PrometheusMetrics.Description(
        name: "entrupy_sim_uptime_seconds", help: "Real time since the start.")

    private static let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

    private let backend = PrometheusMetrics([
        requests, durations, namespaces, connections, memory, uptime,
    ])
    private let handles = NIOLockedValueBox<[Request: Handles]>([:])
    private let started = ContinuousClock.now

    /// Counts an answer.
    ///
    /// - Parameters:
    ///   - route: the route's pattern, which limits the number of series to the number of routes. `none` if no route
    ///     matched.
    ///   - status: `nil` if a fault lost the request before it was handled.
    func answered(method: String, route: String, status: Int?, after duration: Duration) {
        let known = Self.methods.contains(method) ? method : "other"
        let handles = handles(Request(method: known, route: route, status: status))
        handles.count.increment()
        let parts = duration.components
        handles.duration.recordNanoseconds(parts.seconds * 1_000_000_000 + parts.attoseconds / 1_000_000_000)
    }

    private func handles(_ request: Request) -> Handles {
        handles.withLockedValue { handles in
            if let known = handles[request] { return known }
            let route = [("method", request.method), ("route", request.route)]
            let status = request.status.map { "\($0)" } ?? "none"
            let made = Handles(
                count: Counter(
                    label: Self.requests.name,
                    dimensions: route + [("status", status)],
                    factory: backend),
                duration: CoreMetrics.Timer(label: Self.durations.name, dimensions: route, factory: backend))
            handles[request] = made
            return made
        }
    }

    /// All metrics in Prometheus' text format.
    func text(of namespaces: Namespaces) -> String {
        func set(_ description: PrometheusMetrics.Description, _ value: Double) {
            Meter(label: description.name, factory: backend).set(value)
        }
        set(Self.namespaces, Double(namespaces.all().count))
        set(Self.connections, Double(namespaces.openDatabases))
        let elapsed = ContinuousClock.now - started
        set(Self.uptime, Double(elapsed.components.seconds))
        if let memory = ProcessMemory.resident { set(Self.memory, Double(memory)) }
        return backend.text
    }
}
