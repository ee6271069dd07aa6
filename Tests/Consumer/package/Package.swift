// swift-tools-version:6.2
import PackageDescription

// A package of an app team, as the README shows it. `Tests/Consumer/consumer.py` fills in the address and the revision.
let package = Package(
    name: "shop",
    platforms: [.macOS(.v15), .iOS(.v15)],
    dependencies: [
        .package(url: "ADDRESS", revision: "REVISION", traits: [])
    ],
    targets: [
        .target(name: "Shop", dependencies: [.product(name: "EntrupySDK", package: "entrupy-sim")]),
        .target(name: "Identity", dependencies: [.product(name: "FourthlineSDK", package: "entrupy-sim")]),
        .testTarget(
            name: "ShopTests",
            dependencies: [
                "Identity", "Shop", .product(name: "EntrupySDK", package: "entrupy-sim"),
                .product(name: "FourthlineSDK", package: "entrupy-sim"),
                .product(name: "EntrupySimTesting", package: "entrupy-sim"),
            ]),
    ]
)
