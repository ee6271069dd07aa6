import Storage

// Values of Storage that callers of the platform speak of; they need not see Storage for that.

/// A moment on a namespace's clock.
package typealias Instant = Storage.Instant

/// How much of what was acknowledged a power cut may take.
package typealias Durability = Storage.Durability

/// Files for their owner alone.
package typealias PrivateFile = Storage.PrivateFile
