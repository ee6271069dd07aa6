import Storage

// Types of Storage that callers of Simulation use. With these names they need not import Storage.

/// A moment on a namespace's clock.
package typealias Instant = Storage.Instant

/// The guarantee for acknowledged writes when the power fails.
package typealias Durability = Storage.Durability

/// The state of a webhook's delivery.
package typealias DeliveryStatus = DeliveryRecord.Status

/// Bytes that are read once, such as those of an uploaded archive.
package typealias ByteSource = Storage.ByteSource

/// Files that only their owner can access.
package typealias PrivateFile = Storage.PrivateFile
