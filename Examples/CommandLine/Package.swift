// swift-tools-version:6.2
import PackageDescription

let package = Package(
    name: "capture",
    platforms: [.macOS(.v15)],
    dependencies: [
        // Without the trait `Server`, nothing but this package is fetched.
        .package(name: "entrupy-sim", path: "../..", traits: [])
    ],
    targets: [
        .executableTarget(name: "capture", dependencies: [.product(name: "EntrupySDK", package: "entrupy-sim")])
    ]
)
