// swift-tools-version:6.2
import PackageDescription

/// A library of the server. Consumers of the libraries below write `traits: []` and fetch none of these.
func server(_ product: String, _ package: String) -> Target.Dependency {
    .product(name: product, package: package, condition: .when(traits: ["Server"]))
}

// The walls of the house: a module sees only what its arrow here allows.
//   entrupy-sim -> Server, Exploration, Outgoing, Console, the APIs;  Server -> Entrupy, AppComponents, Evidence, Console, Simulation, the APIs
//   Entrupy, AppComponents -> Simulation, their storage, Storage, their API;  Simulation -> Storage, SimulationAPI
//   Exploration -> SimulationAPI;  Evidence -> Simulation, SimulationAPI;  the platforms' storages -> Storage;  Console -> the APIs
//   EntrupySimTesting -> SimulationAPI;  the platforms' APIs -> SimulationAPI
//   EntrupySDK, FourthlineSDK, EntrupySimTesting -> ClientTransport -> Measures;  SimulationAPI -> Measures
//   EntrupySDK, FourthlineSDK -> UIKitStandIns -> UIKit, or Foundation where there is none
let package = Package(
    name: "entrupy-sim",
    platforms: [.macOS(.v15), .iOS(.v15)],
    products: [
        .executable(name: "entrupy-sim", targets: ["entrupy-sim"]),
        .library(name: "EntrupySDK", targets: ["EntrupySDK"]),
        .library(name: "FourthlineSDK", targets: ["FourthlineSDK"]),
        .library(name: "EntrupySimTesting", targets: ["EntrupySimTesting"]),
        .library(name: "EntrupyAPI", targets: ["EntrupyAPI", "SimulationAPI"]),
    ],
    traits: [
        .trait(name: "Server", description: "The server and its command line, with all their dependencies."),
        .default(enabledTraits: ["Server"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections.git", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras.git", from: "1.35.2"),
        .package(url: "https://github.com/groue/GRDB.swift.git", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.1", traits: []),
        .package(url: "https://github.com/hummingbird-project/swift-mustache.git", from: "2.1.1"),
        .package(url: "https://github.com/jpsim/Yams.git", from: "6.2.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.13.0"),
    ],
    targets: [
        .executableTarget(
            name: "entrupy-sim",
            dependencies: [
                "Server", "Exploration", "Outgoing", "Console", "EntrupyAPI", "SimulationAPI", "Resources",
                server("ArgumentParser", "swift-argument-parser"),
                server("Hummingbird", "hummingbird"),
                server("Logging", "swift-log"),
                server("UnixSignals", "swift-service-lifecycle"),
                server("Yams", "Yams"),
            ]
        ),
        .target(
            name: "Server",
            dependencies: [
                "Entrupy", "AppComponents", "Evidence", "Console", "Simulation", "EntrupyAPI", "AppComponentsAPI",
                "SimulationAPI", "Outgoing", "Resources", "CLibraries",
                server("Hummingbird", "hummingbird"),
                server("Logging", "swift-log"),
                server("Mustache", "swift-mustache"),
                server("NIOHTTP1", "swift-nio"),
                server("NIOPosix", "swift-nio"),
                server("ServiceLifecycle", "swift-service-lifecycle"),
                server("Yams", "Yams"),
            ],
            exclude: [
                "Documentation/page.mustache", "Documentation/llms.txt", "Certificates/certificate.mustache",
                "Certificates/sharable.mustache",
            ]
        ),
        .target(name: "Exploration", dependencies: ["SimulationAPI"]),
        .target(name: "Resources", dependencies: ["CResources"]),
        .target(name: "CResources"),
        .systemLibrary(name: "CLibraries", providers: [.apt(["zlib1g-dev"])]),
        .target(
            name: "Console",
            dependencies: [
                "EntrupyAPI", "AppComponentsAPI", "Hashes", "Resources", "SimulationAPI",
                server("Mustache", "swift-mustache"),
            ],
            exclude: ["Assets", "Templates"]
        ),
        .target(
            name: "Entrupy",
            dependencies: [
                "Simulation", "EntrupyStorage", "Storage", "EntrupyAPI", "SimulationAPI", "Hashes",
                "Resources",
                server("NIOConcurrencyHelpers", "swift-nio"),
                server("NIOCore", "swift-nio"),
                server("NIOFoundationCompat", "swift-nio"),
            ]
        ),
        .target(
            name: "AppComponents",
            dependencies: [
                "Simulation", "AppComponentsStorage", "Storage", "AppComponentsAPI", "SimulationAPI", "Resources",
            ]
        ),
        .target(
            name: "Evidence",
            dependencies: ["Simulation", "SimulationAPI", server("NIOConcurrencyHelpers", "swift-nio")]),
        .target(
            name: "Simulation",
            dependencies: [
                "Storage", "SimulationAPI", "Hashes",
                server("DequeModule", "swift-collections"),
                server("NIOConcurrencyHelpers", "swift-nio"),
                server("NIOPosix", "swift-nio"),
                server("Yams", "Yams"),
            ]
        ),
        .target(
            name: "EntrupyStorage",
            dependencies: [
                "Storage", "EntrupyAPI",
                server("NIOCore", "swift-nio"),
            ]
        ),
        .target(
            name: "AppComponentsStorage",
            dependencies: ["Storage", "AppComponentsAPI"]
        ),
        .target(
            name: "Storage",
            dependencies: [
                server("GRDB", "GRDB.swift"),
                server("GRDBSQLite", "GRDB.swift"),
                server("NIOConcurrencyHelpers", "swift-nio"),
            ]
        ),
        .target(
            name: "Outgoing",
            dependencies: [
                server("NIOConcurrencyHelpers", "swift-nio"),
                server("NIOCore", "swift-nio"),
                server("NIOHTTP1", "swift-nio"),
                server("NIOPosix", "swift-nio"),
            ]
        ),
        .target(name: "Hashes", dependencies: ["CHashes"]),
        .systemLibrary(name: "CHashes", providers: [.apt(["libssl-dev"])]),
        .target(name: "EntrupyAPI", dependencies: ["SimulationAPI"]),
        .target(name: "AppComponentsAPI", dependencies: ["SimulationAPI"]),
        .target(name: "SimulationAPI", dependencies: ["Measures"]),
        .target(name: "ClientTransport", dependencies: ["Measures"]),
        .target(name: "Measures"),
        .target(name: "UIKitStandIns"),
        .target(name: "EntrupySDK", dependencies: ["ClientTransport", "UIKitStandIns"]),
        .target(name: "FourthlineSDK", dependencies: ["ClientTransport", "UIKitStandIns"]),
        .target(name: "EntrupySimTesting", dependencies: ["ClientTransport", "SimulationAPI"]),
        .target(
            name: "TestSupport",
            dependencies: [
                "EntrupySimTesting", "SimulationAPI", "Storage", "Outgoing", "Hashes",
                server("NIOConcurrencyHelpers", "swift-nio"),
                server("NIOCore", "swift-nio"),
                server("NIOEmbedded", "swift-nio"),
                server("NIOHTTP1", "swift-nio"),
                server("NIOHTTPCompression", "swift-nio-extras"),
                server("NIOPosix", "swift-nio"),
                server("Yams", "Yams"),
            ], path: "Tests/TestSupport"),
        .testTarget(name: "ExplorationTests", dependencies: ["Exploration", "SimulationAPI", "TestSupport"]),
        .testTarget(name: "HashesTests", dependencies: ["Hashes"]),
        .testTarget(
            name: "OutgoingTests",
            dependencies: [
                "Outgoing", "TestSupport",
                server("NIOConcurrencyHelpers", "swift-nio"),
                server("NIOCore", "swift-nio"),
                server("NIOHTTP1", "swift-nio"),
                server("NIOPosix", "swift-nio"),
            ]),
        .testTarget(name: "EntrupyAPITests", dependencies: ["EntrupyAPI", "SimulationAPI"]),
        .testTarget(name: "SimulationAPITests", dependencies: ["SimulationAPI"]),
        .testTarget(
            name: "EntrupySDKTests",
            dependencies: [
                "ClientTransport", "EntrupySDK", "EntrupySimTesting", "entrupy-sim", "SimulationAPI", "TestSupport",
            ]),
        .testTarget(
            name: "FourthlineSDKTests",
            dependencies: [
                "EntrupySDK", "FourthlineSDK", "EntrupySimTesting", "entrupy-sim", "SimulationAPI", "TestSupport",
            ]),
        .testTarget(
            name: "StorageTests",
            dependencies: [
                "Storage", server("GRDB", "GRDB.swift"), server("GRDBSQLite", "GRDB.swift"),
                server("NIOConcurrencyHelpers", "swift-nio"),
            ]),
        .testTarget(
            name: "EntrupyStorageTests",
            dependencies: ["EntrupyStorage", "Storage", "TestSupport", server("GRDB", "GRDB.swift")]),
        .testTarget(
            name: "SimulationTests",
            dependencies: [
                "Simulation", "Storage", "SimulationAPI", "TestSupport",
                server("GRDB", "GRDB.swift"),
                server("NIOConcurrencyHelpers", "swift-nio"),
                server("NIOPosix", "swift-nio"),
            ]
        ),
        .testTarget(
            name: "EntrupyTests",
            dependencies: [
                "Entrupy", "Evidence", "Simulation", "EntrupyStorage", "Storage", "EntrupyAPI", "SimulationAPI",
                "Hashes", "TestSupport",
                server("GRDB", "GRDB.swift"),
                server("NIOConcurrencyHelpers", "swift-nio"),
                server("NIOCore", "swift-nio"),
                server("NIOPosix", "swift-nio"),
            ]
        ),
        .testTarget(
            name: "AppComponentsTests",
            dependencies: [
                "AppComponents", "Simulation", "AppComponentsStorage", "Storage", "AppComponentsAPI", "SimulationAPI",
                "TestSupport", server("NIOConcurrencyHelpers", "swift-nio"),
                server("NIOPosix", "swift-nio"),
            ]),
        .testTarget(
            name: "ConsoleTests",
            dependencies: ["Console", "SimulationAPI", "TestSupport", server("Yams", "Yams")]),
        .testTarget(
            name: "ServerTests",
            dependencies: [
                "entrupy-sim", "Server", "AppComponents", "Console", "Entrupy", "Evidence", "Hashes", "Simulation",
                "Storage", "EntrupyAPI", "SimulationAPI", "TestSupport",
                server("GRDB", "GRDB.swift"),
                server("Hummingbird", "hummingbird"),
                server("Logging", "swift-log"),
                server("NIOConcurrencyHelpers", "swift-nio"),
                server("NIOEmbedded", "swift-nio"),
                server("NIOHTTP1", "swift-nio"),
                server("Yams", "Yams"),
            ]
        ),
        .testTarget(
            name: "CommandTests",
            dependencies: [
                "entrupy-sim", "Exploration", "SimulationAPI", "TestSupport", "Hashes",
                server("ArgumentParser", "swift-argument-parser"), server("Yams", "Yams"),
            ]),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "entrupy-sim", "Server", "Outgoing", "EntrupyAPI", "EntrupySimTesting", "SimulationAPI", "Hashes",
                "TestSupport",
                server("NIOConcurrencyHelpers", "swift-nio"),
                server("NIOEmbedded", "swift-nio"),
                server("NIOHTTPCompression", "swift-nio-extras"),
                server("NIOPosix", "swift-nio"),
                server("GRDB", "GRDB.swift"),
                server("Yams", "Yams"),
            ],
            exclude: ["HTTPS"]
        ),
    ],
    swiftLanguageModes: [.v6]
)

// HTTPS=1 adds the port for HTTPS and HTTP/2, its local authority, and https: addresses of webhooks. Every package and CI has them; the
// default build does not: BoringSSL and X.509 take as long to compile as everything else. It is not a trait, since a trait is a compilation
// condition of every module, so that all of them would be compiled again.
if isSet("HTTPS") {
    package.dependencies += [
        .package(url: "https://github.com/apple/swift-asn1.git", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-certificates.git", from: "1.21.1"),
        .package(url: "https://github.com/apple/swift-crypto.git", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-nio-http2.git", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.37.6"),
        // A client of other makers, which speaks HTTP/2, for tests.
        .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.37.0"),
    ]
    package.targets += [
        .target(
            name: "HTTPS",
            dependencies: [
                "Server", "Outgoing", "Storage", "SimulationAPI",
                server("Crypto", "swift-crypto"),
                server("DequeModule", "swift-collections"),
                server("Hummingbird", "hummingbird"),
                server("Logging", "swift-log"),
                server("NIOConcurrencyHelpers", "swift-nio"),
                server("NIOHTTP2", "swift-nio-http2"),
                server("NIOHTTPTypesHTTP2", "swift-nio-extras"),
                server("NIOSSL", "swift-nio-ssl"),
                server("NIOTLS", "swift-nio"),
                server("SwiftASN1", "swift-asn1"),
                server("X509", "swift-certificates"),
            ]),
        .target(
            name: "HTTPSTestSupport",
            dependencies: [
                server("NIOConcurrencyHelpers", "swift-nio"),
                server("NIOHPACK", "swift-nio-http2"),
                server("NIOPosix", "swift-nio"),
                server("NIOSSL", "swift-nio-ssl"),
            ], path: "Tests/HTTPSTestSupport"),
        .testTarget(
            name: "HTTPSTests",
            dependencies: [
                "HTTPS", "HTTPSTestSupport", "Server", "Outgoing", "Entrupy", "Simulation", "TestSupport",
                server("Hummingbird", "hummingbird"),
                server("Logging", "swift-log"),
                server("NIOEmbedded", "swift-nio"),
                server("NIOPosix", "swift-nio"),
                server("NIOSSL", "swift-nio-ssl"),
                server("X509", "swift-certificates"),
            ]),
    ]
    for target in package.targets {
        switch target.name {
        case "entrupy-sim":
            target.dependencies.append("HTTPS")
            target.swiftSettings = [.define("HTTPS")]
        case "EndToEndTests":
            target.exclude = []
            target.dependencies += [
                "HTTPSTestSupport", server("AsyncHTTPClient", "async-http-client"),
                server("Crypto", "swift-crypto"), server("NIOSSL", "swift-nio-ssl"),
                server("SwiftASN1", "swift-asn1"), server("X509", "swift-certificates"),
            ]
        default: break
        }
    }
}

/// Whether a variable of the environment is set to anything but nothing or 0.
func isSet(_ variable: String) -> Bool { !["", "0"].contains(Context.environment[variable] ?? "") }

// CI treats warnings as errors: a result that nobody used was once a call of the wrong function.
if Context.environment["ENTRUPY_SIM_STRICT"] != nil {
    for target in package.targets where target.type != .test && target.type != .system {
        target.swiftSettings = (target.swiftSettings ?? []) + [.treatAllWarnings(as: .error)]
    }
}

// The Makefile optimizes three small modules in debug builds too: JSON, texts and durations took a sixth of the time of all tests, and the
// comparison of each answer with the description a twelfth. In a release, modules that requests of the platform do not pass are compiled for size.
if isSet("ENTRUPY_SIM_OPTIMIZE") {
    for target in package.targets
    where ["AppComponentsStorage", "Console", "Evidence", "HTTPS", "entrupy-sim"].contains(target.name) {
        target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-Osize"], .when(configuration: .release))]
    }
    for target in package.targets where ["SimulationAPI", "Measures", "TestSupport"].contains(target.name) {
        target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-O"], .when(configuration: .debug))]
    }
}

// For packages: a folder with what is linked instead of the system's libraries. `make dist` sets it.
if let folder = Context.environment["ENTRUPY_SIM_STATIC"] {
    for target in package.targets where target.name == "entrupy-sim" {
        target.linkerSettings = [.unsafeFlags(["-L", folder, "\(folder)/icu.o", "-Xlinker", "--icf=safe"])]
    }
}

// Fuzzing is a test of a few inputs, unless the environment asks for a program that reads very many: `seeded`, or with the path of
// libFuzzer's archive, which makes it follow the coverage of our own modules. `make test-fuzz` sets it.
let fuzzing = Context.environment["ENTRUPY_SIM_FUZZ"]
let fuzzed: [Target.Dependency] = [
    "Server", "Entrupy", "Simulation", "Storage", "EntrupyAPI", "SimulationAPI",
    server("ArgumentParser", "swift-argument-parser"),
    server("Logging", "swift-log"),
    server("NIOConcurrencyHelpers", "swift-nio"),
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
