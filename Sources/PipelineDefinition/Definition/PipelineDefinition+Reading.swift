import Foundation
import SystemSupport

extension PipelineDefinition: Decodable {
  /// Decodes a definition literally: without `extends` and variables, and without source locations in mistakes. The
  /// decoder's `userInfo` may contain a vocabulary, see `CodingUserInfoKey.definitionVocabulary`.
  /// ``init(data:file:environment:)`` supports all of these.
  public init(from decoder: any Decoder) throws {
    let mistakes = MistakeList()
    var value = try JSONValue(from: decoder)
    if case .object(var members) = value {
      if members["extends"] ?? .null != .null {
        mistakes.add("extends", "works in files only; read the file, or write here what it would inherit")
      }
      for key in DefinitionLoader.ownKeys { members[key] = nil }
      value = .object(members)
    }
    let vocabulary = decoder.userInfo[.definitionVocabulary] as? DefinitionVocabulary
    let definition = Self.read(value, vocabulary: vocabulary ?? DefinitionVocabulary(), mistakes: mistakes)
    guard let definition, mistakes.mistakes.isEmpty else { throw mistakes.error(in: nil) }
    self = definition
  }

  /// Reads a definition and the files that it extends.
  ///
  /// - Parameters:
  ///   - data: JSON with comments, in UTF-8.
  ///   - file: The file's URL, for mistakes; relative paths start in its folder.
  ///   - environment: Variables, and the pipelines that `extends` may name.
  /// - Throws: ``PipelineError`` with every mistake and its source location.
  public init(
    data: Data, file: URL? = nil, environment: DefinitionEnvironment = DefinitionEnvironment()
  ) throws(PipelineError) {
    let (definition, mistakes) = try Self.reading(data, file: file, environment)
    guard let definition, mistakes.mistakes.isEmpty else {
      throw mistakes.error(in: file?.relativePath)
    }
    self = definition
  }

  /// Reads a definition from a file.
  ///
  /// ```swift
  /// let file = URL(fileURLWithPath: "Pipelines/surf-log.json")
  /// let definition = try PipelineDefinition(contentsOf: file)
  /// ```
  ///
  /// - Parameters:
  ///   - file: The file; relative paths in the definition start in its folder.
  ///   - environment: Variables, and the pipelines that `extends` may name.
  /// - Throws: ``PipelineError`` with every mistake and its source location; its code is `source-error` if the file
  ///   cannot be read.
  public init(
    contentsOf file: URL, environment: DefinitionEnvironment = DefinitionEnvironment()
  ) throws(PipelineError) {
    try self.init(data: try Self.data(file), file: file, environment: environment)
  }

  package static func data(_ file: URL) throws(PipelineError) -> Data {
    if let problem = kindProblem(file) {
      var error = PipelineError(code: .sourceError, "cannot read the pipeline: \(problem)")
      error.file = file.relativePath
      throw error
    }
    do {
      do {
        return try Data(contentsOf: file)
      } catch CocoaError.fileReadUnknown {
        // Foundation does not try again after a signal.
        return try Data(contentsOf: file)
      }
    } catch {
      throw .reading(file, error as NSError)
    }
  }

  /// Why something can't be the file of a definition: reading a FIFO waits for a writer, and a device may have no end.
  /// Nil for a regular file, and where reading fails with a reason: for a folder, and for a path that leads nowhere.
  static func kindProblem(_ file: URL) -> String? {
    var status = stat()
    guard stat(file.path, &status) == 0, status.st_mode & S_IFMT != S_IFDIR, let kind = RegularFile.kind(status) else {
      return nil
    }
    return "it is \(kind); save the pipeline as a file"
  }

  /// Reads as much of a definition as possible, with all its mistakes.
  ///
  /// Throws if nothing can be read: for a syntax error, or a base that does not exist.
  package static func reading(
    _ data: Data, file: URL?, _ environment: DefinitionEnvironment
  ) throws(PipelineError) -> (definition: PipelineDefinition?, mistakes: MistakeList) {
    do throws(PipelineError) {
      var loader = DefinitionLoader(file: file, environment: environment)
      let (value, sourceMap, mistakes) = try loader.load(data)
      var definition = read(value, vocabulary: environment.vocabulary, mistakes: mistakes)
      definition?.setBaseDirectory(file?.absoluteURL.deletingLastPathComponent())
      let columnPaths = definition?.sourceMap.columnPaths ?? []
      definition?.sourceMap = sourceMap
      definition?.sourceMap.columnPaths = columnPaths
      return (definition, mistakes)
    } catch {
      var error = error
      error.file = file?.relativePath
      throw error
    }
  }

  /// Reads a definition; `nil` if too much is missing to make one. The definition is usable only if `mistakes` is
  /// empty.
  static func read(
    _ value: JSONValue, vocabulary: DefinitionVocabulary, mistakes: MistakeList
  ) -> PipelineDefinition? {
    let keys = CodingKeys.allCases.map(\.rawValue)
    guard let reader = ObjectReader(value, path: "", keys: keys, mistakes: mistakes) else { return nil }
    var definition = PipelineDefinition(name: reader.string("name") ?? "", vocabulary: vocabulary)
    if reader.value("name") == nil { mistakes.add("", "'name' is missing; every pipeline has a name for its reports") }
    definition.description = reader.string("description")
    definition.readSettings(reader)
    if let value = reader.value("read") {
      definition.read = ReadDefinition.read(value, path: "read", mistakes: mistakes)
    }
    if let items = reader.items("parts") { definition.readParts(items, reader) }
    definition.checkTogether(mistakes)
    return definition
  }

  /// Reads what a whole pipeline and a part of one can say; what is not there stays as it is.
  mutating func readSettings(_ reader: ObjectReader) {
    let mistakes = reader.mistakes
    source = reader.strings("source") ?? source
    sourceOptional = reader.bool("sourceOptional") ?? sourceOptional
    dryRun = reader.bool("dryRun") ?? dryRun
    verifyHash = reader.bool("verifyHash") ?? verifyHash
    for item in reader.items("columns") ?? [] {
      let column = ColumnDefinition.read(
        item.value, path: item.path, dateFormats: vocabulary.dateFormats, mistakes: mistakes)
      guard let column else { continue }
      columns.append(column)
      sourceMap.columnPaths.append(item.path)
    }
    extraColumns = reader.choice("extraColumns", ColumnPolicy.self) ?? extraColumns
    missingColumns = reader.choice("missingColumns", ColumnPolicy.self) ?? missingColumns
    timeZone = reader.string("timeZone") ?? timeZone
    recordRules = (reader.items("recordRules") ?? []).compactMap {
      RecordRule.read($0.value, path: $0.path, mistakes: mistakes)
    }
    key = reader.strings("key") ?? key
    store = reader.string("store") ?? store
    model = reader.string("model") ?? model
    entity = reader.string("entity") ?? entity
    relationships = reader.choice("relationships", RelationshipPolicy.self) ?? relationships
    if let rows = reader.integer("chunkRows", in: Self.chunkRowsRange) { chunkRows = rows }
    errorPolicy = reader.choice("errorPolicy", ErrorPolicy.self) ?? errorPolicy
    atomic = reader.bool("atomic") ?? atomic
    appendOnly = reader.bool("appendOnly") ?? appendOnly
    changedInputs = reader.choice("changedInputs", ChangedInputPolicy.self) ?? changedInputs
    report = reader.strings("report") ?? report
    charts = reader.strings("charts") ?? charts
    rejects = reader.string("rejects") ?? rejects
    timeoutSeconds = reader.number("timeoutSeconds", in: Self.timeoutSecondsRange) ?? timeoutSeconds
    if let value = reader.value("inbox") {
      inbox = InboxDefinition.read(value, path: "inbox", mistakes: mistakes)
      if !source.isEmpty {
        reader.note("inbox", "the files of 'source' are the inputs already; remove one of the two")
      }
    }
    if let value = reader.value("log") {
      log = LogDefinition.read(value, path: "log", mistakes: mistakes)
    }
    if let value = reader.value("notify") {
      notify = NotifyDefinition.read(value, path: "notify", mistakes: mistakes)
    }
    if let value = reader.value("retention") {
      retention = RetentionDefinition.read(value, path: "retention", mistakes: mistakes)
    }
    if let value = reader.value("duplicates") {
      duplicates =
        DuplicatePolicy.read(value, path: "duplicates", mistakes: mistakes) ?? duplicates
      if key.isEmpty, duplicates != .reject {
        reader.note("duplicates", "a 'key' is missing, which defines what a duplicate is; add one")
      }
    }
    if let value = reader.value("errorBudget") {
      errorBudget = ErrorBudget.read(value, path: "errorBudget", mistakes: mistakes)
      if errorPolicy == .stop {
        reader.note("errorBudget", "'errorPolicy' is to stop at the first error already; remove one of the two")
      }
    }
    if let value = reader.value("expect") {
      expect = ExpectDefinition.read(value, path: "expect", mistakes: mistakes)
    }
    if let value = reader.value("dialect") {
      dialect = DialectDefinition.read(
        value, path: "dialect", named: vocabulary.namedDialects, mistakes: mistakes)
    }
    if let value = reader.value("limits") {
      limits = LimitsDefinition.read(value, path: "limits", mistakes: mistakes)
    }
    if let value = reader.value("export") {
      export = ExportDefinition.read(value, path: "export", vocabulary: vocabulary, mistakes: mistakes)
    }
  }

  /// Checks a definition made in code by the rules for files.
  ///
  /// ```swift
  /// do {
  ///   try definition.check()
  /// } catch {
  ///   for mistake in error.mistakes { print(mistake.path, mistake.message) }
  /// }
  /// ```
  ///
  /// - Throws: ``PipelineError`` with every mistake.
  public func check() throws(PipelineError) {
    let mistakes = MistakeList()
    if name.isEmpty { mistakes.add("name", "is empty; every pipeline has a name for its reports") }
    if !Self.chunkRowsRange.contains(chunkRows) {
      let range = Self.chunkRowsRange
      mistakes.add("chunkRows", "expected \(range.lowerBound) to \(range.upperBound), found \(chunkRows)")
    }
    checkTogether(mistakes)
    if !mistakes.mistakes.isEmpty { throw mistakes.error(in: nil) }
  }

  /// Records per chunk of an import into a store; a save on a server waits some times for the server.
  package func chunkRows(isOnServer: Bool) -> Int {
    chunkRowsSet ?? (isOnServer ? Self.chunkRowsUsualOnServer : Self.chunkRowsUsual)
  }

  /// The key path of a column in the definition's file.
  package func columnPath(_ index: Int) -> String {
    sourceMap.columnPaths.indices.contains(index) ? sourceMap.columnPaths[index] : "columns[\(index)]"
  }

  /// Checks what involves several keys: names used twice, names that are not declared.
  func checkTogether(_ mistakes: MistakeList) {
    checkRead(mistakes)
    if !parts.isEmpty {
      checkParts(mistakes)
      return checkReports(mistakes)
    }
    for (index, pattern) in source.enumerated() where read == nil {
      guard let problem = SourcePattern.problem(of: pattern) else { continue }
      let path = mistakes.contains("source[\(index)]") ? "source[\(index)]" : "source"
      mistakes.add(path, "the pattern '\(RawText.shortened(pattern.utf8))' \(problem)")
    }
    // Columns that could not be read are not missing: their own mistakes are already reported.
    let isMistaken = mistakes.isWrong("columns") || mistakes.isWrong("export")
    if columns.isEmpty, export == nil, !isMistaken {
      mistakes.add("columns", "no columns are declared, so nothing could be imported; list them, or add an 'export'")
    }
    let labels = checkLabels(mistakes)
    checkHeaderPolicy(mistakes)
    var attributes: [String: String] = [:]
    for (index, column) in columns.enumerated() {
      let path = columnPath(index)
      if let other = attributes[column.attribute] {
        let text = "the attribute '\(column.attribute)' is already filled by column '\(other)'; remove one"
        mistakes.add(path, text)
      }
      attributes[column.attribute] = column.name
    }
    checkKey(attributes, mistakes)
    checkLinks(mistakes)
    checkExpectations(mistakes)
    checkReports(mistakes)
    guard !columns.isEmpty else { return }
    for (index, name) in dialect.columns.enumerated() where !name.isEmpty {
      guard !labels.contains(ColumnLabel.folded(name)) else { continue }
      let hint = NearestName.hint(for: name, in: columns.map(\.name))
      let text = "'\(name)' is not one of the columns; declare it there, or write \"\" to ignore the field\(hint)"
      mistakes.add(mistakes.contains("dialect.columns[\(index)]") ? "dialect.columns[\(index)]" : "dialect", text)
    }
  }

  private func checkReports(_ mistakes: MistakeList) {
    for (index, path) in report.enumerated() {
      if ReportFormat(path: path) == nil {
        let text =
          "'\(path)' has no known ending; end it in \(ReportFormat.endings), which determines the report's "
          + "format"
        mistakes.add("report[\(index)]", text)
      }
      do throws(PipelineError) {
        _ = try ReportName(path)
      } catch {
        for mistake in error.mistakes { mistakes.add("report[\(index)]", mistake.message) }
      }
    }
    checkRetention(mistakes)
  }

  /// Checks that a label means one column; returns the labels. Two names that differ only in letter case are
  /// distinguished by it if they are those of attributes.
  private func checkLabels(_ mistakes: MistakeList) -> Set<String> {
    var labels: [String: (column: ColumnDefinition, isName: Bool, exact: String)] = [:]
    for (index, column) in columns.enumerated() {
      for (label, _) in column.labels {
        let (folded, exact) = (ColumnLabel.folded(label), ColumnLabel.trimmed(label))
        let isName = column.from.isEmpty && label == column.name && column.attribute == column.name
        if let other = labels[folded], !(isName && other.isName && other.exact != exact) {
          let text = "the label '\(label)' is also column '\(other.column.name)'; a label means one column"
          mistakes.add(columnPath(index), text)
        }
        labels[folded] = (column, isName, exact)
      }
    }
    return Set(labels.keys)
  }

  /// Checks what the header must have, and the zone of times.
  private func checkHeaderPolicy(_ mistakes: MistakeList) {
    if dialect.fieldsMatch != nil {
      for (key, policy) in [("extraColumns", extraColumns), ("missingColumns", missingColumns)] where policy != .warn {
        mistakes.add(key, "the dialect's 'fieldsMatch' has the same meaning; remove one of the two")
      }
    }
    if let timeZone, ZoneRules(timeZone) == nil {
      mistakes.add(
        "timeZone", "unknown time zone '\(timeZone)'; give an IANA name such as Europe/Berlin, or UTC")
    }
  }

  /// A unique column must not be updatable: an interrupted run could not distinguish values that an update released
  /// from values in use.
  private func checkUnique(_ mistakes: MistakeList) {
    guard duplicates.updates else { return }
    for (index, column) in columns.enumerated() where !key.contains(column.attribute) {
      guard let rule = column.rules.firstIndex(where: { $0.kind == .unique }) else { continue }
      if case .update(let names?) = duplicates, !names.contains(column.attribute) { continue }
      mistakes.add(
        "columns[\(index)].rules[\(rule)]",
        "'\(column.name)' can't be unique where updates may change it; name the columns to update without it, or "
          + "remove the rule")
    }
  }

  /// Checks keys and charts. `columns` maps each filled attribute to its column.
  private func checkKey(_ columns: [String: String], _ mistakes: MistakeList) {
    func check(_ attribute: String, _ path: String) {
      guard columns[attribute] == nil else { return }
      let hint = NearestName.hint(for: attribute, in: columns.keys.sorted())
      mistakes.add(path, "no column fills the attribute '\(attribute)'\(hint)")
    }
    for (index, attribute) in key.enumerated() { check(attribute, "key[\(index)]") }
    if !key.isEmpty, changedInputs != .refuse {
      mistakes.add(
        "changedInputs",
        "the pipeline has a key, so 'duplicates' decides about records that the store has; remove one of the two")
    }
    checkUnique(mistakes)
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
        if key.contains(name) {
          mistakes.add(path, "'\(name)' is part of the key, which updates don't change; remove it")
        }
      }
    }
  }
}
