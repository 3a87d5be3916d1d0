// swift-tools-version: 6.2

import CompilerPluginSupport
import Foundation
import PackageDescription

/// The fuzz targets, with modules that count which branches an input takes and that keep their assertions. `.ci/fuzz`
/// sets the variable.
let buildsFuzzTargets = Context.environment["SURFJOURNAL_FUZZ"] != nil
let counted: [SwiftSetting] = [.unsafeFlags(["-sanitize=fuzzer", "-assert-config", "Debug"])]

/// A debug build with optimized modules, whose tests play more in the same time. `.ci/simulate` sets the variable.
let buildsOptimizedModules = Context.environment["SURFJOURNAL_OPTIMIZED"] != nil
let optimized: [SwiftSetting] = [.unsafeFlags(["-O", "-assert-config", "Debug"])]

let strict: [SwiftSetting] =
  [.treatAllWarnings(as: .error)] + (buildsFuzzTargets ? counted : []) + (buildsOptimizedModules ? optimized : [])
/// For modules whose internal parts have fuzz targets.
let fuzzedInside: [SwiftSetting] = strict + (buildsFuzzTargets ? [.unsafeFlags(["-enable-testing"])] : [])

/// The program alone: without the tests, no target asks for the plugin, and its tool is not built. `make demo` and
/// `make program` set the variable.
let buildsProgramOnly = Context.environment["SURFJOURNAL_PROGRAM_ONLY"] != nil

/// The folder with the libraries of SwiftSyntax that the toolchain has for its own macros: next to the compiler that PATH
/// names. Without them the package has no macros.
let syntaxLibraries: String? = (Context.environment["PATH"] ?? "").split(separator: ":").lazy.compactMap { folder in
  let compiler = URL(filePath: String(folder)).appending(path: "swift").resolvingSymlinksInPath()
  let libraries = compiler.deletingLastPathComponent().appending(path: "../lib/swift/host").standardized.path
  let isThere = FileManager.default.fileExists(atPath: libraries + "/SwiftSyntaxMacros.swiftmodule")
  return isThere ? libraries : nil
}.first

/// The module whose tests alone are built, with the modules that they need. `make test-module` sets the variable.
let testedModule = Context.environment["SURFJOURNAL_MODULE"]

let package = Package(
  name: "SurfJournal",
  products: [
    .library(name: "ManagedObjectModel", targets: ["ManagedObjectModel"]),
    .library(name: "OpenCoreData", targets: ["OpenCoreData"]),
    .library(name: "StoreInspection", targets: ["StoreInspection"]),
    .library(name: "CSV", targets: ["CSV"]),
    .library(name: "PipelineDefinition", targets: ["PipelineDefinition"]),
    .library(name: "PipelineEngine", targets: ["PipelineEngine"]),
    .library(name: "SurfJournal", targets: ["SurfJournal"]),
    .executable(name: "surfjournal", targets: ["surfjournal"]),
    .plugin(name: "ManagedObjectModelPlugin", targets: ["ManagedObjectModelPlugin"]),
  ],
  targets: [
    // The system's libraries.
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CExpat", pkgConfig: "expat", providers: [.apt(["libexpat1-dev"])]),
    .systemLibrary(name: "CISAL", pkgConfig: "libisal", providers: [.apt(["libisal-dev"])]),
    .systemLibrary(name: "CXXHash", pkgConfig: "libxxhash", providers: [.apt(["libxxhash-dev"])]),
    // A header only: libarchive is loaded when an input needs it.
    .systemLibrary(name: "CArchive"),
    // A header only: libcurl is loaded when something is notified over HTTP.
    .systemLibrary(name: "CCurl"),
    // A header only: how programs are started that are notified.
    .systemLibrary(name: "CSpawn"),
    // A header only: libpq is loaded when the first store of a server is opened.
    .systemLibrary(name: "CPostgreSQL"),
    // A header only: the bounds of the linker section in which embedded models are found.
    .systemLibrary(name: "CEmbeddedModels"),
    // A header only: the name of the queue that code runs on, for messages.
    .systemLibrary(name: "CDispatchLabel"),
    // A header only: a reference to an object of Swift that another thread may be about to release.
    .systemLibrary(name: "CTryRetain"),
    // A header only: the argument parser of the C library.
    .systemLibrary(name: "CGetopt"),
    // A header only: the section of the program that names the commit it was built from.
    .systemLibrary(name: "CBuildStamp"),
    // A header only: the settings of the C library's allocator.
    .systemLibrary(name: "CMalloc"),
    // A header only: calls for files that the C library's module leaves out.
    .systemLibrary(name: "CWriteback"),

    // The product, from the bottom up.
    .target(name: "SystemSupport", dependencies: ["CTryRetain"], swiftSettings: strict),
    .target(
      name: "ManagedObjectModel", dependencies: ["SystemSupport", "CExpat", "CEmbeddedModels"], swiftSettings: strict),
    .target(
      name: "PersistentStores", dependencies: ["ManagedObjectModel", "SystemSupport", "CSQLite", "CZlib"],
      swiftSettings: strict),
    .target(
      name: "PostgreSQLStore",
      dependencies: ["PersistentStores", "ManagedObjectModel", "SystemSupport", "CPostgreSQL"],
      swiftSettings: strict),
    .target(
      name: "OpenCoreData",
      dependencies: ["ManagedObjectModel", "PersistentStores", "PostgreSQLStore", "SystemSupport", "CDispatchLabel"],
      swiftSettings: strict),
    .target(
      name: "StoreInspection", dependencies: ["ManagedObjectModel", "PersistentStores", "PostgreSQLStore"],
      swiftSettings: strict),
    .target(
      name: "CSV", dependencies: ["SystemSupport", "CArchive", "CISAL", "CXXHash", "CWriteback"],
      swiftSettings: fuzzedInside),
    .target(name: "PipelineDefinition", dependencies: ["CSV", "SystemSupport"], swiftSettings: fuzzedInside),
    .target(name: "TableGuessing", dependencies: ["CSV", "PipelineDefinition"], swiftSettings: strict),
    .target(
      name: "PipelineEngine",
      dependencies: [
        "PipelineDefinition", "OpenCoreData", "PersistentStores", "PostgreSQLStore", "ManagedObjectModel",
        "StoreInspection", "CSV", "SystemSupport", "CCurl", "CSpawn",
      ],
      swiftSettings: strict),
    .target(
      name: "SurfJournal",
      dependencies: [
        "PipelineEngine", "OpenCoreData", "PersistentStores", "ManagedObjectModel", "CSV", "TableGuessing",
      ],
      exclude: ["SurfJournalModel.xcdatamodeld"], swiftSettings: strict),
    .executableTarget(
      name: "surfjournal",
      dependencies: [
        "SurfJournal", "PipelineEngine", "TableGuessing", "SystemSupport", "CBuildStamp", "CGetopt", "CMalloc",
      ],
      swiftSettings: strict),

    // Code from data models, at build time.
    .executableTarget(name: "modelgen", dependencies: ["ManagedObjectModel"], swiftSettings: strict),
    .plugin(
      name: "ManagedObjectModelPlugin", capability: .buildTool(), dependencies: ["modelgen"],
      path: "Sources/ManagedObjectModelPlugin"),
  ],
  swiftLanguageModes: [.v6])

if let syntaxLibraries, !buildsProgramOnly {
  let modules = [
    "SwiftBasicFormat", "SwiftCompilerPluginMessageHandling", "SwiftDiagnostics", "SwiftOperators", "SwiftParser",
    "SwiftSyntax", "SwiftSyntaxBuilder", "SwiftSyntaxMacroExpansion", "SwiftSyntaxMacros",
  ]
  package.products.append(.library(name: "OpenCoreDataMacros", targets: ["OpenCoreDataMacros"]))
  package.targets += [
    .macro(
      name: "OpenCoreDataMacroPlugin", swiftSettings: strict + [.unsafeFlags(["-I", syntaxLibraries])],
      linkerSettings: [
        .unsafeFlags(["-L", syntaxLibraries, "-Xlinker", "-rpath", "-Xlinker", syntaxLibraries])
      ] + modules.map { .linkedLibrary($0) }),
    .target(name: "OpenCoreDataMacros", dependencies: ["OpenCoreDataMacroPlugin"], swiftSettings: strict),
    .testTarget(
      name: "MacroTests", dependencies: ["OpenCoreData", "OpenCoreDataMacros", "TestSupport"], swiftSettings: strict),
  ]
}

if !buildsProgramOnly {
  package.targets += [
    // Folders, programs and seeds for the tests; it imports two modules of the package, which are headers.
    .target(
      name: "TestSupport", dependencies: ["CMalloc", "CSpawn"], path: "Tests/TestSupport", exclude: ["Faults/Shim"],
      swiftSettings: strict,
      // For the program of the tests: LLVM's linker takes half the time of GNU's.
      linkerSettings: [.unsafeFlags(["-use-ld=lld"])]),
    // Random rows, predicates and expressions, and models as text.
    .target(
      name: "ModelTestSupport", dependencies: ["ManagedObjectModel", "TestSupport"], path: "Tests/ModelTestSupport",
      swiftSettings: strict),
    // Test targets must not depend on modelgen: it would be linked twice, once as the plugin's tool.
    .testTarget(
      name: "ManagedObjectModelTests", dependencies: ["ManagedObjectModel", "ModelTestSupport", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "PersistentStoresTests",
      dependencies: ["PersistentStores", "ManagedObjectModel", "CSQLite", "ModelTestSupport", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "OpenCoreDataTests",
      dependencies: [
        "OpenCoreData", "ManagedObjectModel", "PersistentStores", "PostgreSQLStore", "StoreInspection", "SystemSupport",
        "CSQLite", "ModelTestSupport", "TestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "PostgreSQLStoreTests",
      dependencies: [
        "OpenCoreData", "PostgreSQLStore", "PersistentStores", "ManagedObjectModel", "SystemSupport",
        "ModelTestSupport",
        "TestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "ModelGeneratorTests", dependencies: ["OpenCoreData", "TestSupport"], swiftSettings: strict,
      plugins: ["ManagedObjectModelPlugin"]),
    .testTarget(name: "CSVTests", dependencies: ["CSV", "TestSupport"], swiftSettings: strict),
    // The names and defaults that a program hands to definitions.
    .target(
      name: "DefinitionTestSupport", dependencies: ["PipelineDefinition"], path: "Tests/DefinitionTestSupport",
      swiftSettings: strict),
    .testTarget(
      name: "PipelineDefinitionTests",
      dependencies: ["PipelineDefinition", "CSV", "DefinitionTestSupport", "TestSupport"], swiftSettings: strict),
    .testTarget(
      name: "PipelineEngineTests",
      dependencies: [
        "PipelineEngine", "PipelineDefinition", "OpenCoreData", "CSV", "SystemSupport", "DefinitionTestSupport",
        "TestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "TableGuessingTests",
      dependencies: ["TableGuessing", "SurfJournal", "PipelineDefinition", "CSV", "TestSupport"], swiftSettings: strict),
    .testTarget(
      name: "SurfJournalTests", dependencies: ["SurfJournal", "PipelineEngine", "OpenCoreData", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "CommandTests", dependencies: ["surfjournal", "SurfJournal", "PipelineEngine", "TestSupport"],
      exclude: ["Snapshots"], swiftSettings: strict),
    // Random runs, faults and kills against a model of what a store must hold.
    .testTarget(
      name: "SimulatorTests",
      dependencies: [
        "surfjournal", "SurfJournal", "PipelineEngine", "PipelineDefinition", "PersistentStores", "ManagedObjectModel",
        "CSQLite", "CSV", "TestSupport",
      ],
      swiftSettings: strict),
    // The stack shapes of the tutorials, in Apple's names only, and the examples of documentation comments.
    .testTarget(
      name: "Examples",
      dependencies: ["CSV", "OpenCoreData", "PipelineEngine", "StoreInspection", "SurfJournal", "TestSupport"],
      swiftSettings: strict),
    // It reads every file of the repository, which takes half a minute without optimization.
    .testTarget(name: "TidyTests", swiftSettings: strict + optimized),
  ]
}

if buildsFuzzTargets {
  package.targets += [
    // A header only: the driver of libFuzzer, which the toolchain has.
    .systemLibrary(name: "CFuzzer", path: "Tests/Fuzz/CFuzzer"),
    .executableTarget(
      name: "fuzz",
      dependencies: [
        "CSV", "PipelineDefinition", "PipelineEngine", "TableGuessing", "SurfJournal", "OpenCoreData",
        "ManagedObjectModel", "PersistentStores", "StoreInspection", "CZlib", "CFuzzer", "CMalloc",
      ],
      path: "Tests/Fuzz/Sources", swiftSettings: strict),
  ]
}

extension Package {
  /// Keeps one target and those that it depends on.
  func keepTargets(neededBy name: String) {
    var names: Set<String> = []
    var waiting = [name]
    while let next = waiting.popLast() {
      guard names.insert(next).inserted, let target = targets.first(where: { $0.name == next }) else { continue }
      for case .byNameItem(let name, _) in target.dependencies { waiting.append(name) }
      for case .plugin(let name, _) in target.plugins ?? [] { waiting.append(name) }
    }
    targets.removeAll { !names.contains($0.name) }
    products = []
  }
}

if let testedModule { package.keepTargets(neededBy: testedModule + "Tests") }
