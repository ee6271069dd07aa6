import EntrupyAPI
import Foundation
import SimulationAPI

// Items and their pictures.

extension ReportReading {
    mutating func add(items deliveries: [WebhookDelivery], now: Double, to view: inout View) async throws {
        let list = try await api.get(
            "authentications", [("limit", "\(Report.maxItems)")], as: AuthenticationList.self)
        var space = self.space(Report.Space.items)
        for summary in list.authentications {
            let item = try await api.get(
                "authentications/\(Link.escaped(summary.entrupy_id))", as: AuthenticationInfo.self)
            guard try space.add(self.view(of: item, deliveries, now: now), "report-item") else { break }
            for picture in item.pictures {
                let path = Picture.path(picture.url, request)
                let key = Self.key(path)
                if !wanted.contains(where: { $0.key == key }) { wanted.append((key, path, picture.bytes)) }
            }
        }
        if space.isFull || list.next_cursor != nil { notes.append("Only the newest \(space.count) items are here.") }
        view["items"] = taken(space)
        view["hasItems"] = space.count > 0
    }

    private func view(of item: AuthenticationInfo, _ deliveries: [WebhookDelivery], now: Double) -> View {
        var view = ItemPage.state(item, now: now, request)
        view["console"] = ""
        view["base"] = ""
        view["pictures"] = item.pictures.map { picture -> View in
            [
                "region": picture.region_id.replacing("_", with: " "), "size": SizeText.text(picture.bytes),
                "picture": Self.key(Picture.path(picture.url, request)),
            ]
        }
        view["words"] =
            "\(item.entrupy_id) \(item.customer_item_id ?? "") brand:\(item.v2.properties.brand_name ?? "") result:\(item.result.id.rawValue) flag:\(item.flag.id.rawValue) user:\(item.username)"
            .lowercased()
        let attempts = deliveries.filter { $0.entrupy_id == item.entrupy_id }
        let chart = TimelineChart(
            events: item.timeline.map { .init(at: $0.at, kind: $0.event, subject: item.entrupy_id, data: $0.data) }
                + attempts.flatMap { delivery in
                    delivery.attempts.map { .init($0, of: delivery) }
                },
            due: item.result_due_at.map { [.init(at: $0, kind: "result", subject: item.entrupy_id)] } ?? [],
            snapshots: [], now: now, range: nil, request)
        view["chart"] = [chart.view]
        view["history"] = item.timeline.map {
            event(StateChange(sequence: 0, at: $0.at, kind: $0.event, subject: item.entrupy_id, data: $0.data))
        }
        return view
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
