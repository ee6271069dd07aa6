import AppComponentsAPI
import Storage

// The ids and states of the wire are stored as their text.

extension Component: StoredWord {}
extension ComponentState.Status: StoredWord {}
extension IdentityDocument: StoredWord {}
extension WorkflowEnvironment: StoredWord {}
extension WorkflowSessionInfo.Status: StoredWord {}
