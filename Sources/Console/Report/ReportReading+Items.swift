import EntrupyAPI
import Foundation
import SimulationAPI

// Items and their pictures.

extension ReportReading {
    mutating func add(items deliveries: [WebhookDelivery], now: Double, to view: inout ReportView) async throws {
        let list = try await api.get(
            "authentications", [("limit", "\(Report.maxItems)")], as: AuthenticationList.self)
        var space = self.space(Report.Space.items)
        for summary in list.authentications {
            let item = try await api.get(
                "authentications/\(URLPart.escaped(summary.entrupy_id))", as: AuthenticationInfo.self)
            guard try space.add(self.view(of: item, deliveries, now: now), "report-item") else { break }
            for picture in item.pictures {
                let path = Picture.path(picture.url, request)
                let key = Self.key(path)
                if !wanted.contains(where: { $0.key == key }) { wanted.append((key, path, picture.bytes)) }
            }
        }
        if space.isFull || list.next_cursor != nil { notes.append("Only the newest \(space.count) items are here.") }
        view.items = taken(space).nonEmpty
    }

    private struct Item: Encodable, Sendable {
        let state: ItemState
        let words: String
        let chart: TimelineChart.View
    }

    private func view(of item: AuthenticationInfo, _ deliveries: [WebhookDelivery], now: Double) -> Item {
        var state = ItemState(item, names, now: now, request)
        state.pictures = Rows(
            item.pictures.map {
                ItemState.Photo(picture: $0, path: Self.key(Picture.path($0.url, request)), isShown: true)
            })
        state.history = item.timeline.map { unlinked(StateChange($0, of: item.entrupy_id)) }
        let attempts = deliveries.filter { $0.entrupy_id == item.entrupy_id }.flatMap { delivery in
            delivery.attempts.map { StateChange($0, of: delivery) }
        }
        let words =
            "\(item.entrupy_id) \(item.customer_item_id ?? "") brand:\(item.v2.properties.brand_name ?? "") result:\(item.result.id.rawValue) flag:\(item.flag.id.rawValue) user:\(item.username)"
        return Item(
            state: state, words: words.lowercased(),
            chart: TimelineChart(of: item, with: attempts, now: now, request).view)
    }

    private static func key(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? "" }

    /// The pictures of the items as a JSON object of data URLs by their keys, for the page's script.
    ///
    /// - Parameter bytes: the maximum size.
    mutating func pictures(bytes: Int) async -> String {
        var map: [(String, JSONValue)] = []
        var left = bytes
        for picture in wanted {
            // Base64 takes four bytes for three; the rest is the key and the quotes.
            guard picture.bytes <= ItemsPage.maxPicture, (picture.bytes + 2) / 3 * 4 + 200 <= left,
                let data = await self.picture(picture.path), (data.count + 2) / 3 * 4 + 200 <= left
            else {
                largePictures += 1
                continue
            }
            let type =
                data.starts(with: [0x89, 0x50])
                ? "image/png" : data.starts(with: [0xff, 0xd8]) ? "image/jpeg" : "image/webp"
            let url = "data:\(type);base64,\(data.base64EncodedString())"
            left -= url.utf8.count + 200
            map.append((picture.key, .string(url)))
        }
        return PrettyJSON.line(.object(JSONObject(map))).replacing(each: "<", with: "\\u003c")
    }
}
