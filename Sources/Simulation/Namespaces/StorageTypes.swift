import Storage

// Types of Storage that callers of Simulation use. With these names they need not import Storage.

/// A moment on a namespace's clock.
package typealias Instant = Storage.Instant

/// The guarantee for acknowledged writes when the power fails.
package typealias Durability = Storage.Durability

/// The state of a webhook's delivery.
package typealias DeliveryStatus = DeliveryRecord.Status

/// The cause of an event, of scheduled work or of a delivery.
package typealias Cause = Storage.Cause

/// An entry of the event log.
package typealias StoredEvent = EventRecord

/// Work that is due.
package typealias StoredWork = DueRecord

/// Work that was due and has run.
package typealias StoredPastWork = PastWorkRecord

/// A webhook for one subscription.
package typealias StoredDelivery = DeliveryRecord

/// An attempt to deliver a webhook, with what it was made for.
package typealias StoredAttempt = DeliveredAttempt

/// The trace that a request belongs to.
package typealias TraceContext = Storage.TraceContext

/// Bytes that are read once, such as those of an uploaded archive.
package typealias ByteSource = Storage.ByteSource

/// Files that only their owner can access.
package typealias PrivateFile = Storage.PrivateFile
