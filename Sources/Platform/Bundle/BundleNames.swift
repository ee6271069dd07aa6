/// What a bundle calls the files it holds besides a snapshot's.
enum BundleNames {
    static let format = "entrupy-sim bundle"
    static let journal = "journal.json"
    static let har = "journal.har"
    static let events = "events.json"
    static let settings = "settings.json"
    static let seed = "seed.yaml"

    static let all: Set = [journal, har, events, settings, seed]
}
