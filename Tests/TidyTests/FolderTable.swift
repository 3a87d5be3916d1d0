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
      "JSON": ["Base", "Records"],
      "Writer": ["Base", "Dialect", "JSON", "Sink"],
      "Parser": ["Base", "Dialect", "Encoding", "Hash", "Records", "Source"],
      "Reader": ["Base", "Dialect", "Encoding", "Hash", "JSON", "Parser", "Records", "Source"],
    ],
    "ManagedObjectModel": [
      "Archives": [],
      "Base": [],
      "Embedded": [],
      "ModelFiles/Packages": ["Base"],
      "Predicates/Text": [],
      "Values": [],
      "Predicates/Tree": ["Values"],
      "Predicates/Syntax": ["Predicates/Tree"],
      "Predicates/Values": ["Predicates/Text", "Values"],
      "Predicates/Binding": ["Predicates/Text", "Predicates/Tree", "Predicates/Values", "Values"],
      "Predicates/Object": [
        "Predicates/Binding", "Predicates/Syntax", "Predicates/Tree", "Predicates/Values", "Values",
      ],
      "Transformers": ["Archives", "Base"],
      "Descriptions": [
        "Base", "Embedded", "Predicates/Binding", "Predicates/Object", "Predicates/Tree", "Transformers", "Values",
      ],
      "Sorting": [
        "Predicates/Binding", "Predicates/Object", "Predicates/Syntax", "Predicates/Tree", "Predicates/Values",
        "Values",
      ],
      "TypedPredicates": ["Predicates/Tree", "Sorting"],
      "KeyPaths": ["Descriptions", "Predicates/Binding", "Predicates/Tree"],
      "ModelFiles/ModelXML": ["Base", "Descriptions", "ModelFiles/Packages", "Values"],
      "ModelFiles/Compiled": [
        "Archives", "Base", "Descriptions", "ModelFiles/Packages", "Predicates/Tree", "Values",
      ],
      "ModelFiles/Elements": ["Archives", "Descriptions", "ModelFiles/ModelXML", "ModelFiles/Packages"],
      "ModelFiles/Mappings": [
        "Archives", "Base", "Descriptions", "ModelFiles", "ModelFiles/Compiled", "ModelFiles/Elements",
        "ModelFiles/ModelXML", "ModelFiles/Packages", "Predicates/Object",
      ],
      "ModelFiles": [
        "Archives", "Base", "Descriptions", "Embedded", "ModelFiles/Compiled", "ModelFiles/Elements",
        "ModelFiles/ModelXML", "ModelFiles/Packages",
      ],
    ],
    "PersistentStores": [
      "Compression": [],
      "Identities": [],
      "Rows": ["Identities"],
      "Queries": ["Identities", "Rows"],
      "SQLite": ["Rows"],
      "External": ["Rows", "SQLite", "Schema"],
      "Predicates": ["SQLite"],
      "RowStore": ["Identities", "Queries", "Rows"],
      "Schema": [],
      "Derivations": ["Predicates", "SQLite", "Schema"],
      "History": ["Identities", "RowStore", "Rows", "SQLite", "Schema"],
      "Opening": ["RowStore", "Rows", "SQLite", "Schema"],
      "Schema/Existing": ["SQLite", "Schema"],
      "ModelSearch": ["Compression", "Opening", "SQLite", "Schema", "Schema/Existing"],
      "Migration": [
        "Derivations", "External", "History", "Opening", "RowStore", "SQLite", "Schema", "Schema/Existing",
      ],
      "SQLiteStore": [
        "Derivations", "External", "History", "Identities", "Migration", "Opening", "Predicates", "Queries", "RowStore",
        "Rows", "SQLite", "Schema", "Schema/Existing",
      ],
    ],
    "OpenCoreData": [
      ".": [],
      "Coordinator": [],
      "Requests": ["Coordinator"],
      "Undo": [],
      "Graph/Context": ["Coordinator", "Graph/Objects", "Requests", "Undo"],
      "Graph/Objects": ["Graph/Context", "Requests"],
      "Container": ["Coordinator", "Graph/Context"],
      "Graph/Entities": ["Coordinator", "Graph/Context", "Graph/Objects", "Requests"],
      "Graph/Saving": ["Coordinator", "Graph/Context", "Graph/Objects"],
      "Graph/Merging": ["Coordinator", "Graph/Context", "Graph/Objects"],
      "Results": ["Graph/Context", "Graph/Objects", "Requests"],
      "Graph/Requests": ["Coordinator", "Graph/Context", "Graph/Objects", "Graph/Saving", "Requests"],
      "Stores": ["Coordinator", "Graph/Context", "Graph/Objects", "Graph/Saving", "Requests"],
      "History": ["Coordinator", "Graph/Context", "Graph/Requests", "Requests"],
      "Migration": [".", "Container", "Coordinator", "Graph/Context", "Graph/Objects", "Requests"],
      "Unavailable": [
        ".", "Container", "Coordinator", "Graph/Context", "Graph/Objects", "Graph/Requests", "Requests",
      ],
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
      "Compilers/Dates": ["Issues", "Values"],
      "Compilers/Transforms": ["Issues", "Rules/Transforms", "Values"],
      "Definition": ["Issues", "JSON", "Rules", "Rules/Records", "Rules/Transforms", "Values"],
      "Compilers/Records": ["Definition", "Issues", "Rules/Records", "Values"],
      "Compilers": [
        "Compilers/Dates", "Compilers/Records", "Compilers/Transforms", "Definition", "Issues", "JSON", "Rules",
        "Rules/Transforms",
        "Values",
      ],
    ],
    "TableGuessing": [
      "Base": [],
      "Sampling": ["Base"],
      "Encoding": ["Base", "Sampling"],
      "Splitting": ["Sampling"],
      "Values": ["Base", "Splitting"],
      "Dialect": ["Base", "Splitting", "Values"],
      "Layout": ["Base", "Dialect", "Splitting", "Values"],
      "Matching": ["Base", "Values"],
      "Guess": ["Base", "Dialect", "Encoding", "Layout", "Matching", "Sampling", "Splitting", "Values"],
      "Output": ["Base", "Guess"],
    ],
    "PipelineEngine": [
      ".": [],
      "Base": [],
      "Keys": [],
      "Model": ["Base"],
      "Expectations": ["Keys", "Model"],
      "Inputs": ["Base"],
      "Report/Profile": ["Model"],
      "Report": ["Base", "Expectations", "Report/Profile"],
      "Log": ["Base", "Report"],
      "Links": ["Keys", "Model"],
      "Parsing": ["Base", "Inputs", "Keys", "Links"],
      "Report/HTML": ["Base", "Report", "Report/Profile"],
      "Ledger": ["Base", "Expectations", "Inputs", "Keys", "Report", "Report/Profile"],
      "Export": ["Base", "Log", "Model", "Report"],
      "Undo": ["Ledger"],
      "Import": [
        "Base", "Expectations", "Inputs", "Keys", "Ledger", "Links", "Log", "Model", "Parsing", "Report",
        "Report/Profile", "Undo",
      ],
      "Seeding": ["Base", "Import", "Ledger", "Report"],
      "Review": ["Base", "Expectations", "Export", "Import", "Inputs", "Model", "Report/Profile"],
      "Observation": ["Base", "Export", "Import", "Links", "Log", "Model", "Report"],
      "Preview": ["Base", "Import", "Links", "Model", "Observation", "Parsing", "Report", "Report/Profile"],
      "Comparison": [
        "Base", "Import", "Inputs", "Keys", "Links", "Model", "Observation", "Parsing", "Report", "Report/HTML",
      ],
      "History": ["Base", "Report", "Report/HTML"],
      "Notification": ["Base", "History", "Notification/Sending", "Report"],
      "Notification/Sending": [],
      "Run": [
        "Base", "Export", "History", "Import", "Inputs", "Ledger", "Log", "Model", "Notification", "Report", "Seeding",
        "Undo",
      ],
    ],
    "SurfJournal": [
      "CoreDataStack": [],
      "Generated": [],
      "Journal": ["CoreDataStack"],
      ".": ["Generated"],
    ],
    "surfjournal": [
      "Output": [],
      "Arguments": ["Output"],
      "Running": ["Arguments", "Output"],
      "Commands": ["Arguments", "Output", "Running"],
      "Completion": ["Arguments", "Commands", "Output", "Running"],
      ".": ["Arguments", "Commands", "Completion", "Output"],
    ],
  ]
}
