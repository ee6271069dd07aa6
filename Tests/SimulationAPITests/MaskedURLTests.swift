import Testing

@testable import SimulationAPI

@Suite struct MaskedURLTests {
    @Test(arguments: [
        ("http://127.0.0.1/hooks", "http://127.0.0.1/hooks"), ("http://a/b?", "http://a/b?"),
        ("http://a/b?token=s3cr3t&x=1", "http://a/b?token=***&x=***"), ("http://a/b?s3cr3t", "http://a/b?***"),
        ("http://a/b?q=1=2?3#x=y", "http://a/b?q=***"), ("", ""),
    ])
    func theValuesOfAQueryAreMasked(url: String, masked: String) {
        #expect(url.maskingQuery == masked)
    }

    @Test(arguments: [
        ("http://user:pass@a/b", "http://***@a/b"), ("https://user@a", "https://***@a"),
        ("http://u:p@ss@a/b?x=1", "http://***@a/b?x=***"), ("http://a/b@c", "http://a/b@c"), ("user@a", "user@a"),
    ])
    func theUserIsMasked(url: String, masked: String) {
        #expect(url.maskingQuery == masked)
    }
}
