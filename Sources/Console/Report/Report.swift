import AppComponentsAPI
import EntrupyAPI
import Foundation
import Resources
import SimulationAPI

/// One page for a failure: everything that the console shows of a namespace, rendered ahead, in a file that needs no server
/// [D report]. Secrets are masked, as in the control API that it is read from.
package struct Report: Sendable {
    /// The page.
    package let html: String
    /// A sentence for each kind of thing that was left out.
    package let notes: [String]
    /// The first lines of why the run may have failed, without the scenario's expectations, for a terminal; at most
    /// ``ReportReasons/maxLines``.
    package let why: [String]

    /// The maximum number of entries that are looked at, of each kind.
    static let maxRequests = 20_000
    static let maxItems = 500
    static let maxDeliveries = 1000
    static let maxEvents = 2000
    /// The maximum number of requests that are shown around the reasons.
    static let maxAround = 50
    /// The maximum size of a shown body, in characters.
    static let maxBody = 6000
    /// The maximum size of a page, in bytes. The spaces of its parts and what is written around them stay below.
    package static let maxBytes = 2_000_000

    /// The maximum size of each part of the page, in bytes of HTML. Together they are more than a page has: the parts that are
    /// made first take what they need.
    enum Space {
        static let around = 450_000
        static let requests = 350_000
        /// Requests without their messages.
        static let lines = 150_000
        static let items = 450_000
        static let chart = 150_000
        static let events = 150_000
        static let deliveries = 200_000
        static let rules = 60_000
        static let users = 30_000
        static let sessions = 40_000
        /// Limits of parts that have no limit of their own: failed rows of the scenario's verification, the other rows of each kind,
        /// work that is due, and the settings.
        static let failures = 60_000
        static let checks = 20_000
        static let due = 20_000
        static let settings = 30_000
        /// The lists of the reasons, whose number and length are bounded.
        static let reasons = 220_000
        /// The text around the parts.
        static let rest = 60_000
        static let all = maxBytes - failures - 2 * checks - due - settings - reasons - rest
    }

    /// Reads a namespace through the control API and renders the page.
    ///
    /// - Parameters:
    ///   - title: the name of the bundle or file.
    ///   - gate: the namespace's scenario, verified; `nil` if it has none. Its failures come first on the page.
    ///   - run: the command that failed; `nil` if it is not known.
    ///   - picture: reads a picture by its path in the control API; `nil` if it is not there.
    package init(
        _ console: Console, title: String, gate: ReportGate? = nil, run: ReportedRun? = nil,
        _ api: @escaping ControlAPI, picture: @escaping @Sendable (_ path: String) async -> Data?
    ) async throws {
        var reading = ReportReading(api: ControlReader(api: api), picture: picture, gate: gate, run: run)
        var view = try await reading.view(title: ReportReasons.short(title), version: console.version)
        let size = try PageTemplates.render(view, "report").utf8.count
        view.pictureMap = await reading.pictures(bytes: Self.maxBytes - Space.rest - size)
        reading.noteWhatIsLeftOut()
        view.notes = Rows(reading.notes)
        html = try PageTemplates.render(view, "report")
        notes = reading.notes
        why = reading.why
    }
}

/// The page as its template reads it. Parts are HTML. One that is `nil` has no entries; one that is empty has no space for any.
struct ReportView: Encodable, Sendable {
    let title, version: String
    let style = Self.ownStyle
    let script = Self.ownScript
    let policy =
        "default-src 'none'; script-src \(ContentPolicy.source(of: ownScript)); style-src \(ContentPolicy.source(of: ownStyle)); img-src data:; base-uri 'none'; form-action 'none'"
    let clock, counts: String
    let namespace: NamespaceInfo
    let run: ReportedRun?
    let gate: ReportGate.View?
    let why: ReportReasons.View
    let settings: String
    var notes: Rows<String>?
    var around: String?
    var others: String?
    var items: String?
    var chart = ""
    var due: String?
    var eventCount = ""
    var events = ""
    var deliveries = ""
    var faults: String?
    var outcomes: String?
    var users = ""
    var sessions: String?
    /// The pictures as a JSON object of data URLs.
    var pictureMap = ""

    private static let ownStyle = String(decoding: ConsoleAsset.style.bytes, as: UTF8.self)
    private static let ownScript = Resource.text("console/report.js")
}
