import CoreMetrics
import NIOConcurrencyHelpers

/// A metrics backend that writes Prometheus' text format, version 0.0.4.
///
/// A timer is a histogram in seconds. A recorder that aggregates is a histogram in its own unit.
final class PrometheusMetrics: MetricsFactory, Sendable {
    /// The name and the help text of a metric.
    struct Description: Sendable {
        let name: String
        let help: String
    }

    /// A metric with one set of labels. Each series has its own value.
    struct Series: Hashable {
        let name: String
        let labels: [String]
    }

    private let descriptions: [String: String]
    private let state = NIOLockedValueBox<[Series: any PrometheusValue]>([:])

    /// - Parameter descriptions: the help texts. A metric that is not listed has none.
    init(_ descriptions: [Description]) {
        self.descriptions = Dictionary(descriptions.map { ($0.name, $0.help) }) { $1 }
    }

    /// All metrics in text format, ordered by name and labels.
    var text: String {
        let values = state.withLockedValue { $0 }
        let names = Dictionary(grouping: values, by: \.key.name)
        return names.sorted { $0.key < $1.key }.map { name, series in
            let help = descriptions[name].map { "# HELP \(name) \($0)\n" } ?? ""
            let lines = series.sorted { $0.key.labels.lexicographicallyPrecedes($1.key.labels) }.flatMap {
                $0.value.lines(name: name, labels: $0.key.labels)
            }
            return "\(help)# TYPE \(name) \(series[0].value.type)\n" + lines.joined(separator: "\n") + "\n"
        }.joined()
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        value(label, dimensions) { PrometheusCounter() }
    }

    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        value(label, dimensions) { PrometheusGauge() }
    }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        aggregate
            ? value(label, dimensions) { PrometheusHistogram() } : value(label, dimensions) { PrometheusGauge() }
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        value(label, dimensions) { PrometheusHistogram() }
    }

    // A series is never removed: Prometheus would take its loss for a restart.
    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyMeter(_ handler: any MeterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}

    private func value<Value: PrometheusValue>(
        _ name: String, _ labels: [(String, String)], make: () -> Value
    ) -> Value {
        let series = Series(name: name, labels: labels.map { "\($0)=\"\(Self.escaped($1))\"" })
        return state.withLockedValue { values in
            if let known = values[series] as? Value { return known }
            let value = make()
            values[series] = value
            return value
        }
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }
}

protocol PrometheusValue: Sendable {
    /// The metric's type, in Prometheus' words.
    var type: String { get }
    func lines(name: String, labels: [String]) -> [String]
}

extension PrometheusValue {
    /// One line of the text format.
    fileprivate func line(_ name: String, _ labels: [String], _ value: String) -> String {
        labels.isEmpty ? "\(name) \(value)" : "\(name){\(labels.joined(separator: ","))} \(value)"
    }
}

/// A value that only grows.
final class PrometheusCounter: CounterHandler, PrometheusValue {
    private let count = NIOLockedValueBox<Int64>(0)
    let type = "counter"

    func increment(by amount: Int64) {
        count.withLockedValue { $0 += amount }
    }

    func reset() {
        count.withLockedValue { $0 = 0 }
    }

    func lines(name: String, labels: [String]) -> [String] {
        [line(name, labels, String(count.withLockedValue { $0 }))]
    }
}

/// A value that goes up and down.
final class PrometheusGauge: MeterHandler, RecorderHandler, PrometheusValue {
    private let level = NIOLockedValueBox<Double>(0)
    let type = "gauge"

    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { level.withLockedValue { $0 = value } }
    func increment(by amount: Double) { level.withLockedValue { $0 += amount } }
    func decrement(by amount: Double) { level.withLockedValue { $0 -= amount } }
    func record(_ value: Int64) { set(value) }
    func record(_ value: Double) { set(value) }

    func lines(name: String, labels: [String]) -> [String] {
        let value = level.withLockedValue { $0 }
        return [line(name, labels, value == value.rounded() ? String(Int64(value)) : String(value))]
    }
}

/// Counts values by upper bounds.
final class PrometheusHistogram: TimerHandler, RecorderHandler, PrometheusValue {
    private struct State {
        var buckets = Array(repeating: 0, count: PrometheusHistogram.bounds.count)
        var count = 0
        var sum = 0.0
    }

    /// The upper bounds. For a timer, in seconds.
    private static let bounds = [
        0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 2.5, 10,
    ]
    private let state = NIOLockedValueBox(State())
    let type = "histogram"

    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }
    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        state.withLockedValue { state in
            state.count += 1
            state.sum += value
            if let bucket = Self.bounds.firstIndex(where: { value <= $0 }) { state.buckets[bucket] += 1 }
        }
    }

    func lines(name: String, labels: [String]) -> [String] {
        let state = state.withLockedValue { $0 }
        var below = 0
        let buckets = zip(Self.bounds, state.buckets).map { bound, count in
            below += count
            return line("\(name)_bucket", labels + ["le=\"\(bound)\""], String(below))
        }
        return buckets + [
            line("\(name)_bucket", labels + ["le=\"+Inf\""], String(state.count)),
            line("\(name)_sum", labels, String(state.sum)), line("\(name)_count", labels, String(state.count)),
        ]
    }
}
