// swift-tools-version: 6.2
import PackageDescription

// The package manager links every program with the Swift runtime; those in C would start slower and larger by it.
let plainC: [LinkerSetting] = [.unsafeFlags(["-nostartfiles", "-static-stdlib"])]
let strictC: [CSetting] = [.enableWarning("all"), .enableWarning("extra"), .treatAllWarnings(as: .error)]

// A package of its own, so that the product stays free of it. `make bench` builds and runs it.
let package = Package(
  name: "Benchmarks",
  dependencies: [.package(name: "SurfJournal", path: "../..")],
  targets: [
    .executableTarget(
      name: "benchmarks",
      dependencies: [
        .product(name: "PipelineEngine", package: "SurfJournal"), .product(name: "SurfJournal", package: "SurfJournal"),
      ],
      swiftSettings: [.treatAllWarnings(as: .error)],
      plugins: [.plugin(name: "ManagedObjectModelPlugin", package: "SurfJournal")]),
    // The limit that the ratios refer to.
    .executableTarget(
      name: "limit", cSettings: strictC,
      linkerSettings: plainC + [.linkedLibrary("sqlite3"), .linkedLibrary("pthread")]),
    // Starts what is measured.
    .executableTarget(name: "measure", cSettings: strictC, linkerSettings: plainC),
  ],
  swiftLanguageModes: [.v6]
)
