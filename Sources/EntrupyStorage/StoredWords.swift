import EntrupyAPI
import Storage

// The ids and states of the wire are stored as their text.

extension Activity: StoredWord {}
extension FormFactor: StoredWord {}
extension Capture.Status: StoredWord {}
extension ConfigType: StoredWord {}
extension FlagID: StoredWord {}
extension ResultID: StoredWord {}
