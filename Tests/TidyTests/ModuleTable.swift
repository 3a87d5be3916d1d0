/// Which module may import which: the arrows of the design, and what each takes from the system.
enum ModuleTable {
  static let imports: [String: Set<String>] = [
    "SystemSupport": ["CTryRetain"],
    "ManagedObjectModel": ["CEmbeddedModels", "CExpat", "SystemSupport"],
    "PersistentStores": ["CSQLite", "CZlib", "SystemSupport", "ManagedObjectModel"],
    "PostgreSQLStore": ["CPostgreSQL", "SystemSupport", "ManagedObjectModel", "PersistentStores"],
    "OpenCoreData": ["CDispatchLabel", "SystemSupport", "ManagedObjectModel", "PersistentStores", "PostgreSQLStore"],
    "StoreInspection": ["ManagedObjectModel", "PersistentStores", "PostgreSQLStore"],
    "CSV": ["CArchive", "CISAL", "CWriteback", "CXXHash", "SystemSupport"],
    "PipelineDefinition": ["CSV", "SystemSupport"],
    "PipelineEngine": [
      "CCurl", "CSV", "CSpawn", "SystemSupport", "ManagedObjectModel", "OpenCoreData", "PersistentStores",
      "PipelineDefinition", "PostgreSQLStore", "StoreInspection",
    ],
    "TableGuessing": ["CSV", "PipelineDefinition"],
    "SurfJournal": [
      "CSV", "ManagedObjectModel", "OpenCoreData", "PersistentStores", "PipelineEngine", "TableGuessing",
    ],
    "surfjournal": [
      "CBuildStamp", "CGetopt", "CMalloc", "SystemSupport", "PipelineEngine", "SurfJournal", "TableGuessing",
    ],
    "modelgen": ["ManagedObjectModel"],
    "ManagedObjectModelPlugin": ["FoundationXML", "PackagePlugin"],
    "OpenCoreDataMacros": [],
    "OpenCoreDataMacroPlugin": ["SwiftSyntax", "SwiftSyntaxBuilder", "SwiftSyntaxMacros"],
    // C libraries and their headers, without Swift sources.
    "CArchive": [], "CBuildStamp": [], "CCurl": [], "CDispatchLabel": [], "CEmbeddedModels": [], "CExpat": [],
    "CGetopt": [], "CISAL": [], "CMalloc": [], "CPostgreSQL": [], "CSQLite": [], "CSpawn": [], "CTryRetain": [],
    "CWriteback": [],
    "CXXHash": [], "CZlib": [],
  ]

  /// What every module may also take from the system.
  static let system: Set<String> = ["Darwin", "Dispatch", "Foundation", "Glibc", "Observation", "Synchronization"]

  private static let kinds: Set<Substring> = [
    "class", "enum", "func", "let", "protocol", "struct", "typealias", "var",
  ]

  /// The module that a line imports, nil if it imports none.
  static func importedModule(_ line: String) -> String? {
    var words = line.split { !$0.isLetter && !$0.isNumber && !"@_.".contains($0) }[...]
    guard let keyword = words.firstIndex(of: "import") else { return nil }
    let before = words[..<keyword]
    let modifiers: Set<Substring> = ["fileprivate", "internal", "package", "private", "public"]
    guard before.allSatisfy({ $0.hasPrefix("@") || modifiers.contains($0) }) else { return nil }
    words = words[(keyword + 1)...]
    if let kind = words.first, kinds.contains(kind) { words = words.dropFirst() }
    return words.first.flatMap { $0.split(separator: ".").first }.map(String.init)
  }
}
