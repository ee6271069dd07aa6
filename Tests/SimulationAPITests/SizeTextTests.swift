import Testing

@testable import SimulationAPI

@Suite struct SizeTextTests {
    @Test(arguments: [
        ("0", 0), ("512", 512), ("512B", 512), ("500kB", 500_000), ("10MB", 10_000_000), ("10 mb", 10_000_000),
        ("1.5 GB", 1_500_000_000), ("64MiB", 67_108_864), ("16GiB", 17_179_869_184), ("2tb", 2_000_000_000_000),
    ])
    func sizesAreRead(text: String, bytes: Int) {
        #expect(SizeText.bytes(text) == bytes)
    }

    @Test(arguments: [
        "", "MB", "-1", "1.5", "1.5B", "1e3", "10 M B", "10  MB", "10MBs", ".5MB", "5.MB", "1.2.3MB", "99999TB", "１MB",
        "10M", "10Mi",
    ])
    func anythingElseIsRefused(text: String) {
        #expect(SizeText.bytes(text) == nil)
    }

    @Test(arguments: [
        (0, "0 B"), (999, "999 B"), (1000, "1 kB"), (1536, "1.5 kB"), (999_949, "999.9 kB"), (999_950, "1 MB"),
        (64_000_000, "64 MB"), (12_345_678, "12.3 MB"), (17_179_869_184, "17.2 GB"), (2_000_000_000_000, "2 TB"),
    ])
    func aSizeHasOneText(bytes: Int, text: String) {
        #expect(SizeText.text(bytes) == text)
    }
}
