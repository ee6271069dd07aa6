import Foundation
import NIOHTTP1
import SimulationAPI

/// An answer of the server.
package struct HTTPAnswer: Sendable {
    package let status: Int
    package let headers: HTTPHeaders
    package let body: Data
    /// The body as JSON, `.null` if it is not JSON.
    package let json: JSONValue

    package init(status: Int, headers: HTTPHeaders, body: Data) {
        self.status = status
        self.headers = headers
        self.body = body
        json = (try? WireJSON.decode(JSONValue.self, from: body)) ?? .null
    }

    /// The body as text.
    package var text: String { String(decoding: body, as: UTF8.self) }

    package subscript(path: String) -> JSONValue { json[path] }
}

extension JSONValue {
    /// The value as a whole number; `nil` if it is not one.
    package var integer: Int? { if case .number(let number) = self { number.integer } else { nil } }
}
