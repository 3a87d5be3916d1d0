import Foundation

extension PipelineDefinition: Decodable {
  /// From any decoder, without places in mistakes. ``init(data:file:)`` reads a file's bytes with them.
  public init(from decoder: any Decoder) throws {
    let mistakes = MistakeList()
    let definition = Self.read(try JSONValue(from: decoder), mistakes: mistakes)
    guard let definition, mistakes.mistakes.isEmpty else { throw PipelineError(mistakes: mistakes.sorted) }
    self = definition
  }

  /// From the bytes of a definition; `file` is named in mistakes and gives relative paths their start.
  public init(data: Data, file: URL? = nil) throws(PipelineError) {
    do throws(PipelineError) {
      var reader = JSONPlacedReader(data)
      let value = try reader.read()
      let mistakes = MistakeList(places: reader.places)
      let definition = Self.read(value, mistakes: mistakes)
      guard let definition, mistakes.mistakes.isEmpty else { throw PipelineError(mistakes: mistakes.sorted) }
      self = definition
      baseDirectory = file?.absoluteURL.deletingLastPathComponent()
    } catch {
      throw PipelineError(code: error.code, file: file?.relativePath, mistakes: error.mistakes)
    }
  }

  /// From a file; a file that cannot be read is a `source-error`.
  public init(contentsOf file: URL) throws(PipelineError) {
    let data: Data
    do {
      data = try Data(contentsOf: file)
    } catch {
      let reason = (error as NSError).localizedDescription
      throw PipelineError(
        code: .sourceError, file: file.relativePath,
        mistakes: [.init(path: "", message: "cannot read the pipeline: \(reason); check the path and its permissions")]
      )
    }
    try self.init(data: data, file: file)
  }

  /// `nil` when so much is missing that no definition can be made; otherwise `mistakes` says whether it is usable.
  private static func read(_ value: JSONValue, mistakes: MistakeList) -> PipelineDefinition? {
    let keys = CodingKeys.allCases.map(\.rawValue)
    guard let reader = ObjectReader(value, path: "", keys: keys, mistakes: mistakes) else { return nil }
    var definition = PipelineDefinition(name: reader.string("name") ?? "")
    if reader.value("name") == nil { mistakes.add("", "'name' is missing; every pipeline has a name for its reports") }
    definition.description = reader.string("description")
    definition.source = reader.strings("source") ?? []
    definition.columns = (reader.items("columns") ?? []).compactMap {
      ColumnDefinition.read($0.value, path: $0.path, mistakes: mistakes)
    }
    definition.key = reader.strings("key") ?? []
    definition.store = reader.string("store")
    definition.model = reader.string("model") ?? definition.model
    definition.entity = reader.string("entity") ?? definition.entity
    definition.chunkRows = reader.integer("chunkRows", in: chunkRowsRange) ?? definition.chunkRows
    definition.errorPolicy = reader.choice("errorPolicy", ErrorPolicy.self) ?? definition.errorPolicy
    definition.atomic = reader.bool("atomic") ?? false
    definition.appendOnly = reader.bool("appendOnly") ?? false
    definition.report = reader.strings("report") ?? []
    definition.charts = reader.strings("charts")
    definition.rejects = reader.string("rejects")
    definition.timeoutSeconds = reader.number("timeoutSeconds", in: timeoutSecondsRange)
    if let value = reader.value("inbox") {
      definition.inbox = InboxDefinition.read(value, path: "inbox", mistakes: mistakes)
      if !definition.source.isEmpty {
        reader.note("inbox", "the files of 'source' are the inputs already; remove one of the two")
      }
    }
    if let value = reader.value("log") {
      definition.log = LogDefinition.read(value, path: "log", mistakes: mistakes)
    }
    if let value = reader.value("duplicates") {
      definition.duplicates =
        DuplicatePolicy.read(value, path: "duplicates", mistakes: mistakes) ?? definition.duplicates
      if definition.key.isEmpty, definition.duplicates != .reject {
        reader.note("duplicates", "there is no 'key' that says what a duplicate is; add one")
      }
    }
    if let value = reader.value("errorBudget") {
      definition.errorBudget = ErrorBudget.read(value, path: "errorBudget", mistakes: mistakes)
      if definition.errorPolicy == .stop {
        reader.note("errorBudget", "'errorPolicy' is to stop at the first error already; remove one of the two")
      }
    }
    if let value = reader.value("dialect") {
      definition.dialect = DialectDefinition.read(value, path: "dialect", mistakes: mistakes)
    }
    if let value = reader.value("limits") {
      definition.limits = LimitsDefinition.read(value, path: "limits", mistakes: mistakes)
    }
    if let value = reader.value("export") {
      definition.export = ExportDefinition.read(value, path: "export", mistakes: mistakes)
    }
    definition.checkTogether(mistakes)
    return definition
  }

  /// Checks a definition made in code as a file's would be; throws with every mistake.
  public func check() throws(PipelineError) {
    let mistakes = MistakeList()
    if name.isEmpty { mistakes.add("name", "is empty; every pipeline has a name for its reports") }
    if !Self.chunkRowsRange.contains(chunkRows) {
      let range = Self.chunkRowsRange
      mistakes.add("chunkRows", "expected \(range.lowerBound) to \(range.upperBound), found \(chunkRows)")
    }
    checkTogether(mistakes)
    if !mistakes.mistakes.isEmpty { throw PipelineError(mistakes: mistakes.sorted) }
  }

  /// What single keys cannot show: names used twice, names that nothing declares.
  private func checkTogether(_ mistakes: MistakeList) {
    // Columns that could not be read are not missing: their own mistakes say what is wrong.
    let isMistaken = mistakes.mistakes.contains { $0.path.hasPrefix("columns") || $0.path.hasPrefix("export") }
    if columns.isEmpty, export == nil, !isMistaken {
      mistakes.add("columns", "no columns are declared, so nothing could be imported; list them, or add an 'export'")
    }
    var labels: [String: String] = [:]
    var attributes: [String: String] = [:]
    for (index, column) in columns.enumerated() {
      for label in [column.name] + column.synonyms {
        let folded = HeaderMapping.folded(label)
        if let other = labels[folded] {
          mistakes.add("columns[\(index)]", "the label '\(label)' is also column '\(other)'; a label means one column")
        }
        labels[folded] = column.name
      }
      if let other = attributes[column.attribute] {
        let text = "the attribute '\(column.attribute)' is already filled by column '\(other)'; remove one"
        mistakes.add("columns[\(index)]", text)
      }
      attributes[column.attribute] = column.name
    }
    checkKey(attributes, mistakes)
    guard !columns.isEmpty else { return }
    for (index, name) in dialect.columns.enumerated() where !name.isEmpty {
      guard labels[HeaderMapping.folded(name)] == nil else { continue }
      let hint = NearestName.hint(for: name, in: columns.map(\.name))
      let text = "'\(name)' is not one of the columns; declare it there, or write \"\" to ignore the field\(hint)"
      mistakes.add(mistakes.knows("dialect.columns[\(index)]") ? "dialect.columns[\(index)]" : "dialect", text)
    }
    for (index, path) in report.enumerated() where ReportFormat(path: path) == nil {
      let text = "'\(path)' must end in \(ReportFormat.endings), which says how the report is written"
      mistakes.add("report[\(index)]", text)
    }
  }

  /// `columns` has the column of each attribute that one fills.
  private func checkKey(_ columns: [String: String], _ mistakes: MistakeList) {
    func check(_ attribute: String, _ path: String) {
      guard columns[attribute] == nil else { return }
      let hint = NearestName.hint(for: attribute, in: columns.keys.sorted())
      mistakes.add(path, "no column fills the attribute '\(attribute)'\(hint)")
    }
    for (index, attribute) in key.enumerated() { check(attribute, "key[\(index)]") }
    for (index, attribute) in (charts ?? []).enumerated() {
      if !columns.isEmpty { check(attribute, "charts[\(index)]") }
      guard (charts ?? []).prefix(index).contains(attribute) else { continue }
      mistakes.add("charts[\(index)]", "'\(attribute)' has a chart already; remove one")
    }
    switch duplicates {
    case .reject, .skip: break
    case .keepNewest(let by): check(by, "duplicates.by")
    case .update(let names):
      for (index, name) in (names ?? []).enumerated() {
        let path = "duplicates.columns[\(index)]"
        check(name, path)
        if key.contains(name) { mistakes.add(path, "'\(name)' is of the key, which no update changes; remove it") }
      }
    }
  }
}
