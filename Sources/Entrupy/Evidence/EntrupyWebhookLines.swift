import EntrupyAPI
import Simulation

extension EntrupyLines {
    /// Commands that meet what happens to webhooks.
    static var webhooks: [String: String] {
        var lines: [String: String] = [:]
        for event in WebhookEvent.names {
            let trigger =
                "entrupy-sim deliveries trigger \(event) $(entrupy-sim capture run --sku sim-authentic-after-0s)"
            lines["\(event) delivered"] =
                "entrupy-sim webhooks listen & RECEIVER=$!; entrupy-sim wait --within 10s 'webhook:\(event)' & sleep 3; \(trigger); wait %2; kill $RECEIVER"
            let nowhere = "entrupy-sim webhooks add http://127.0.0.1:9/met --secret met"
            lines["\(event) failed"] = "\(nowhere); \(trigger); entrupy-sim clock advance 30d"
            lines["\(event) cancelled"] = "HOOK=$(\(nowhere)); \(trigger); entrupy-sim webhooks remove $HOOK"
        }
        return lines
    }
}
