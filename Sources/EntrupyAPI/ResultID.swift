extension ResultID {
    /// Whether only compared fingerprints can have the result [D fingerprints].
    public var isOfComparisonsOnly: Bool { [.match, .noMatch, .matchFound, .noMatchFound].contains(self) }

    /// Whether only registrations of fingerprints can have the result [D fingerprints].
    public var isOfRegistrationsOnly: Bool {
        [.registered, .registrationInvalid, .registrationNotSupported].contains(self)
    }

    /// Whether the result is a final one, as `analyzed` is [D analyzed]. An id that this version does not know is final, as most are.
    public var isFinal: Bool { ![.needsReview, .dataRequired, .received].contains(self) }

    /// Whether a result may be flagged at all, if the settings list it: none of the newest interface may [D newest-results].
    public var mayBeFlaggable: Bool {
        ![
            .registered, .canceled, .dataRequired, .notAvailable, .registrationInvalid, .registrationNotSupported,
            .matchFound, .noMatchFound, .received,
        ].contains(self)
    }
}
