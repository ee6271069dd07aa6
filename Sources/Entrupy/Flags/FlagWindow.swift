import EntrupyStorage
import NIOCore
import Simulation
import SimulationAPI
import Storage

/// How long after its result an item may be flagged: the setting `flagging.window`, without end if it is null [D flag-window].
enum FlagWindow {
    /// The moment from which on the item can no longer be flagged; `nil` if there is none.
    private static func end(_ item: ItemRecord, _ job: JobContext) -> Instant? {
        job.entrupy.settings.flagWindow.flatMap { window in item.resultAt.map { $0 + window } }
    }

    /// Whether the item can no longer be flagged, now.
    static func isOver(_ item: ItemRecord, _ job: JobContext) -> Bool {
        end(item, job).map { $0 <= job.now } ?? false
    }

    /// Throws if the item can no longer be flagged.
    static func check(_ item: ItemRecord, _ job: JobContext) throws {
        guard let end = end(item, job), end <= job.now else { return }
        throw PlatformError.invalid(
            "the item is not eligible for flagging; check is_flaggable first",
            [ErrorDetail("flag", "was possible until \(end.display), by the setting flagging.window")])
    }

    /// An encoded rendering as it is shown now.
    static func shown(_ rendering: ByteBuffer, _ entrupyID: String, _ job: JobContext) throws -> ByteBuffer {
        // Quotes in a text are escaped, so this is no part of one.
        let bytes = rendering.readableBytesView
        guard job.entrupy.settings.flagWindow != nil, let item = try job.transaction.item(entrupyID: entrupyID),
            isOver(item, job), let place = bytes.firstRange(of: Array(#""is_flaggable":true"#.utf8))
        else { return rendering }
        var shown = ByteBuffer(bytes[..<place.lowerBound])
        shown.writeString(#""is_flaggable":false"#)
        shown.writeBytes(bytes[place.upperBound...])
        return shown
    }
}
