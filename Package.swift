// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]

let package = Package(
  name: "SurfJournal",
  products: [
    .library(name: "OpenCoreData", targets: ["OpenCoreData"]),
  ],
  targets: [
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CEmbeddedModels"),
    .target(
      name: "OpenCoreData", dependencies: ["CSQLite", "CEmbeddedModels"], swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
