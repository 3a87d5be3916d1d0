// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that the product stays free of it. `make bench` runs it.
let package = Package(
  name: "Benchmarks",
  dependencies: [.package(name: "SurfJournal", path: "../..")],
  targets: [
    .executableTarget(
      name: "benchmarks",
      dependencies: [
        .product(name: "PipelineEngine", package: "SurfJournal"), .product(name: "SurfJournal", package: "SurfJournal"),
      ],
      swiftSettings: [.treatAllWarnings(as: .error)])
  ],
  swiftLanguageModes: [.v6]
)
