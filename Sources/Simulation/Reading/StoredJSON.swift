import Foundation
import SimulationAPI

/// JSON that is stored as text.
package enum StoredJSON {
    package static func encode(_ value: some Encodable) throws -> String {
        String(decoding: try WireJSON.encode(value), as: UTF8.self)
    }

    package static func decode(_ text: String) throws -> JSONValue {
        try WireJSON.decode(JSONValue.self, from: Data(text.utf8))
    }
}
