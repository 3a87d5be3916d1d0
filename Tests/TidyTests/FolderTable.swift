/// Which folders of a module may use which: each names types only of the folders listed with it.
///
/// Folders are named by their path below the module; a sub-folder is a folder of its own. The table may shrink. An
/// arrow that is new needs a reason as good as a new dependency of a module.
enum FolderTable {
  /// The only arrow that may close a circle, with its module: an object knows its context, and a context its objects,
  /// by Apple's API (`NSManagedObject.managedObjectContext`, `NSManagedObjectContext.registeredObjects`).
  static let circle = (
    module: "OpenCoreData", arrow: FolderScan.Arrow(from: "Graph/Objects", to: "Graph/Context")
  )

  static let arrows: [String: [String: Set<String>]] = [
    "CSV": [
      "Base": [],
      "Hash": [],
      "Records": [],
      "Dialect": ["Base"],
      "Source": ["Base"],
      "Encoding": ["Base", "Dialect", "Hash", "Source"],
      "Sink": ["Base", "Hash"],
      "Writer": ["Base", "Dialect", "Sink"],
      "Parser": ["Base", "Dialect", "Encoding", "Hash", "Records", "Source"],
      "Reader": ["Base", "Dialect", "Encoding", "Hash", "Parser", "Records", "Source"],
    ],
    "ManagedObjectModel": [
      "Archives": [],
      "Base": [],
      "Embedded": [],
      "ModelFiles/Packages": [],
      "Predicates/Text": [],
      "Values": [],
      "Predicates/Tree": ["Values"],
      "Predicates/Syntax": ["Predicates/Tree"],
      "Predicates/Values": ["Predicates/Text", "Values"],
      "Predicates/Binding": ["Predicates/Text", "Predicates/Tree", "Predicates/Values", "Values"],
      "Predicates/Object": ["Predicates/Binding", "Predicates/Syntax", "Predicates/Tree"],
      "Descriptions": ["Base", "Embedded", "Predicates/Binding", "Values"],
      "Sorting": [
        "Predicates/Binding", "Predicates/Object", "Predicates/Syntax", "Predicates/Tree", "Predicates/Values",
        "Values",
      ],
      "KeyPaths": ["Descriptions", "Predicates/Binding"],
      "ModelFiles/ModelXML": ["Descriptions", "ModelFiles/Packages", "Values"],
      "Transformers": ["Archives", "Base", "Descriptions", "Values"],
      "ModelFiles/Compiled": ["Archives", "Descriptions", "ModelFiles/Packages", "Predicates/Tree", "Values"],
      "ModelFiles": ["Descriptions", "ModelFiles/Compiled", "ModelFiles/ModelXML", "ModelFiles/Packages"],
    ],
    "PersistentStores": [
      "Compression": [],
      "Identities": [],
      "Rows": ["Identities"],
      "Queries": ["Identities", "Rows"],
      "SQLite": ["Rows"],
      "External": ["Rows", "SQLite"],
      "Predicates": ["SQLite"],
      "RowStore": ["Identities", "Queries", "Rows"],
      "Schema": ["SQLite"],
      "Opening": ["SQLite", "Schema"],
      "Schema/Existing": ["SQLite", "Schema"],
      "ModelSearch": ["Compression", "Opening", "SQLite", "Schema"],
      "Migration": ["External", "Opening", "SQLite", "Schema", "Schema/Existing"],
      "SQLiteStore": [
        "External", "Identities", "Migration", "Opening", "Queries", "RowStore", "Rows", "SQLite", "Schema",
        "Schema/Existing",
      ],
    ],
    "OpenCoreData": [
      ".": [],
      "Coordinator": [],
      "Requests": ["Coordinator"],
      "Graph/Context": ["Coordinator", "Graph/Objects", "Requests"],
      "Graph/Objects": ["Graph/Context", "Requests"],
      "Container": ["Coordinator", "Graph/Context"],
      "Graph/Entities": ["Coordinator", "Graph/Context", "Graph/Objects", "Requests"],
      "Graph/Merging": ["Coordinator", "Graph/Context", "Graph/Objects"],
      "Results": ["Graph/Context", "Graph/Objects", "Requests"],
      "Graph/Requests": ["Coordinator", "Graph/Context", "Graph/Merging", "Graph/Objects", "Requests"],
      "Stores": ["Coordinator", "Graph/Context", "Graph/Merging", "Graph/Objects", "Requests"],
    ],
    "StoreInspection": [
      ".": []
    ],
    "PipelineDefinition": [
      "Issues": [],
      "Values": ["Issues"],
      "JSON": ["Issues", "Values"],
      "Rules": ["Issues", "JSON", "Values"],
      "Rules/Records": ["Issues", "JSON", "Values"],
      "Rules/Transforms": ["Issues", "JSON"],
      "Compilers/Transforms": ["Issues", "Rules/Transforms"],
      "Definition": ["Issues", "JSON", "Rules", "Rules/Records", "Rules/Transforms", "Values"],
      "Compilers/Records": ["Definition", "Issues", "Rules/Records", "Values"],
      "Compilers": [
        "Compilers/Records", "Compilers/Transforms", "Definition", "Issues", "JSON", "Rules", "Rules/Transforms",
        "Values",
      ],
    ],
    "PipelineEngine": [
      ".": [],
      "Base": [],
      "Keys": [],
      "Report/Profile": [],
      "Inputs": ["Base"],
      "Model": ["Base"],
      "Report": ["Base", "Report/Profile"],
      "Log": ["Base", "Report"],
      "Parsing": ["Base", "Inputs", "Keys"],
      "Report/HTML": ["Base", "Report", "Report/Profile"],
      "Ledger": ["Base", "Inputs", "Report", "Report/Profile"],
      "Export": ["Base", "Log", "Model", "Report"],
      "Import": ["Base", "Inputs", "Keys", "Ledger", "Log", "Model", "Parsing", "Report", "Report/Profile"],
      "Seeding": ["Base", "Import", "Ledger", "Report"],
      "Review": ["Base", "Export", "Import", "Inputs", "Model", "Report/Profile"],
      "Run": ["Base", "Export", "Import", "Log", "Model", "Report", "Seeding"],
    ],
    "SurfJournal": [
      "CoreDataStack": [],
      "Generated": [],
      "Journal": ["CoreDataStack", "Generated"],
      ".": ["CoreDataStack", "Generated", "Journal"],
    ],
    "surfjournal": [
      "Output": [],
      "Arguments": ["Output"],
      "Running": ["Arguments", "Output"],
      "Commands": ["Arguments", "Output", "Running"],
      ".": ["Arguments", "Commands", "Output"],
    ],
  ]
}
