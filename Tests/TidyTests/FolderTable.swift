/// Which folders of a module may use which: each names types only of the folders listed with it.
///
/// The table may shrink. An arrow that is new needs a reason as good as a new dependency of a module.
enum FolderTable {
  static let arrows: [String: [String: Set<String>]] = [
    "CSV": [
      "Base": [],
      "Hash": [],
      "Records": [],
      "Dialect": ["Base"],
      "Sink": ["Base", "Hash"],
      "Source": ["Base"],
      "Parser": ["Base", "Dialect", "Hash", "Records", "Source"],
      "Writer": ["Base", "Dialect", "Sink"],
      "Reader": ["Base", "Dialect", "Hash", "Parser", "Records", "Source"],
    ],
    "PipelineDefinition": [
      "Issues": [],
      "Values": ["Issues"],
      "JSON": ["Issues", "Values"],
      "Rules": ["Issues", "JSON", "Values"],
      "Definition": ["Issues", "JSON", "Rules", "Values"],
      "Compilers": ["Definition", "Issues", "JSON", "Rules", "Values"],
    ],
    "PipelineEngine": [
      ".": [],
      "Base": [],
      "Keys": [],
      "Inputs": ["Base"],
      "Model": ["Base"],
      "Report": ["Base"],
      "Ledger": ["Base", "Inputs", "Report"],
      "Log": ["Base", "Report"],
      "Parsing": ["Base", "Inputs", "Keys"],
      "Export": ["Base", "Log", "Model", "Report"],
      "Import": ["Base", "Inputs", "Keys", "Ledger", "Log", "Model", "Parsing", "Report"],
      "Review": ["Base", "Export", "Import", "Inputs", "Model", "Report"],
      "Seeding": ["Base", "Import", "Ledger", "Report"],
      "Run": ["Base", "Export", "Import", "Log", "Model", "Report", "Seeding"],
    ],
    "SurfJournal": [
      "CoreDataStack": [],
      "Journal": ["CoreDataStack"],
      ".": ["CoreDataStack", "Journal"],
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
