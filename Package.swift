// swift-tools-version:6.2
import PackageDescription

// The walls of the house: a module sees only what its arrow here allows.
//   entrupy-sim -> Server, Entrupy, the APIs;  Server -> Entrupy, Simulation, the APIs
//   Entrupy -> Simulation, EntrupyStorage, Storage, the APIs;  Simulation -> Storage, SimulationAPI
//   EntrupyStorage -> Storage;  EntrupyAPI -> SimulationAPI
let package = Package(
    name: "entrupy-sim",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "entrupy-sim", targets: ["entrupy-sim"])
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections.git", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-crypto.git", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras.git", from: "1.35.2"),
        .package(url: "https://github.com/groue/GRDB.swift.git", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.1"),
        .package(url: "https://github.com/hummingbird-project/swift-mustache.git", from: "2.1.1"),
        .package(url: "https://github.com/jpsim/Yams.git", from: "6.2.2"),
        .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.13.0"),
        .package(url: "https://github.com/vapor/jwt-kit.git", from: "5.7.1"),
    ],
    targets: [
        .executableTarget(
            name: "entrupy-sim",
            dependencies: [
                "Server", "Entrupy", "EntrupyAPI", "SimulationAPI",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            resources: [.embedInCode("fidelity.md")]
        ),
        .target(
            name: "Server",
            dependencies: [
                "Entrupy", "Simulation", "EntrupyAPI", "SimulationAPI", "CDescription",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Mustache", package: "swift-mustache"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPCompression", package: "swift-nio-extras"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Yams", package: "Yams"),
            ],
            resources: [
                .embedInCode("Documentation/page.mustache"),
                .embedInCode("Certificates/certificate.mustache"), .embedInCode("Certificates/sharable.mustache"),
            ]
        ),
        .target(name: "CDescription"),
        .target(
            name: "Entrupy",
            dependencies: [
                "Simulation", "EntrupyStorage", "Storage", "EntrupyAPI", "SimulationAPI",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "JWTKit", package: "jwt-kit"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
            ],
            resources: [.embedInCode("Seed/standard.yaml"), .embedInCode("Scenarios/Shipped")]
        ),
        .target(
            name: "Simulation",
            dependencies: [
                "Storage", "SimulationAPI",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "Yams", package: "Yams"),
            ]
        ),
        .target(
            name: "EntrupyStorage",
            dependencies: [
                "Storage",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "NIOCore", package: "swift-nio"),
            ]
        ),
        .target(
            name: "Storage",
            dependencies: [
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
            ]
        ),
        .target(name: "EntrupyAPI", dependencies: ["SimulationAPI"]),
        .target(name: "SimulationAPI"),
        .target(
            name: "TestSupport",
            dependencies: [
                "EntrupyAPI", "SimulationAPI",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPCompression", package: "swift-nio-extras"),
            ], path: "Tests/TestSupport"),
        .testTarget(name: "EntrupyAPITests", dependencies: ["EntrupyAPI", "SimulationAPI"]),
        .testTarget(name: "SimulationAPITests", dependencies: ["SimulationAPI"]),
        .testTarget(
            name: "StorageTests", dependencies: ["Storage", .product(name: "GRDB", package: "GRDB.swift")]),
        .testTarget(
            name: "EntrupyStorageTests",
            dependencies: ["EntrupyStorage", "Storage", .product(name: "GRDB", package: "GRDB.swift")]),
        .testTarget(
            name: "SimulationTests",
            dependencies: [
                "Simulation", "Storage", "SimulationAPI", "TestSupport",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]
        ),
        .testTarget(
            name: "EntrupyTests",
            dependencies: [
                "Entrupy", "Simulation", "EntrupyStorage", "Storage", "EntrupyAPI", "SimulationAPI", "TestSupport",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]
        ),
        .testTarget(
            name: "ServerTests",
            dependencies: [
                "Server", "Entrupy", "Simulation", "EntrupyAPI", "SimulationAPI", "TestSupport",
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "Yams", package: "Yams"),
            ]
        ),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "entrupy-sim", "Server", "EntrupyAPI", "SimulationAPI", "TestSupport",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTPCompression", package: "swift-nio-extras"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Yams", package: "Yams"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)

// CI treats warnings as errors: a result that nobody used was once a call of the wrong function.
if Context.environment["ENTRUPY_SIM_STRICT"] != nil {
    for target in package.targets where target.type != .test {
        target.swiftSettings = (target.swiftSettings ?? []) + [.treatAllWarnings(as: .error)]
    }
}

// Fuzzing is a test of a few inputs, unless the environment asks for a program that reads very many: `seeded`, or with the path of
// libFuzzer's archive, which makes it follow the coverage of our own modules. `make test-fuzz` sets it.
let fuzzing = Context.environment["ENTRUPY_SIM_FUZZ"]
let fuzzed: [Target.Dependency] = [
    "Server", "Entrupy", "Simulation", "EntrupyStorage", "Storage", "EntrupyAPI", "SimulationAPI",
    .product(name: "ArgumentParser", package: "swift-argument-parser"),
    .product(name: "Logging", package: "swift-log"),
    .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
]
if let fuzzing {
    let isGuided = fuzzing.hasPrefix("/")
    package.targets.append(
        .executableTarget(
            name: "fuzz", dependencies: fuzzed + (isGuided ? ["LibFuzzer"] : []), path: "Tests/FuzzTests",
            exclude: ["FuzzTests.swift", "Program/LibFuzzer", "corpus", "dictionaries", "fuzz.py"],
            swiftSettings: isGuided ? [.define("FUZZ_GUIDED")] : [],
            linkerSettings: isGuided ? [.unsafeFlags([fuzzing]), .linkedLibrary("stdc++")] : []))
    if isGuided {
        package.targets.append(.systemLibrary(name: "LibFuzzer", path: "Tests/FuzzTests/Program/LibFuzzer"))
        for target in package.targets
        where ["Server", "Entrupy", "Simulation", "EntrupyStorage", "Storage", "EntrupyAPI", "SimulationAPI"].contains(
            target.name)
        {
            target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-sanitize=fuzzer"])]
        }
    }
} else {
    package.targets.append(
        .testTarget(
            name: "FuzzTests", dependencies: fuzzed + ["TestSupport"], path: "Tests/FuzzTests",
            exclude: ["Program", "corpus", "dictionaries", "fuzz.py"]))
}
