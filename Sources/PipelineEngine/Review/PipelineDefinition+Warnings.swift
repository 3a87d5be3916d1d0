import Foundation

extension PipelineDefinition {
  /// What is not a mistake but probably not intended, given the current files and environment.
  var warnings: [PipelineError.Mistake] {
    let found = MistakeList(sourceMap)
    for variable in sourceMap.defaulted {
      found.add(variable.origin, "the environment variable '\(variable.name)' is not set, so its default is used")
    }
    func warn(_ path: String, _ message: String) { found.add(path, message) }
    for (index, part) in imports.enumerated() {
      found.within(importPath(index)) { part.warnOfInputs(warn) }
    }
    if let file = log?.file, file != "-" { self.warn(ofOwn: file, key: "log.file", warn) }
    if let store { warnOfStore(path(store), warn) }
    for (index, path) in report.enumerated() { self.warn(ofOwn: path, key: "report[\(index)]", warn) }
    // A path that ends in `/` is a folder for files.
    if let rejects { self.warn(ofOwn: rejects.hasSuffix("/") ? rejects + "rejects" : rejects, key: "rejects", warn) }
    if let output = export?.output, !output.contains("{") { Self.warn(of: path(output), key: "export.output", warn) }
    warnOfSecrets(warn)
    if limits.fieldBytesMax > limits.recordBytesMax {
      warn("limits.fieldBytesMax", "is more than 'recordBytesMax', so no field can become that long")
    }
    return found.sorted
  }

  private func warnOfSecrets(_ warn: (String, String) -> Void) {
    guard let notify else { return }
    var files: [(key: String, secret: SecretText)] = notify.ping.map { [("notify.ping.url.file", $0.url)] } ?? []
    for (index, webhook) in notify.webhooks.enumerated() {
      files.append(("notify.webhooks[\(index)].url.file", webhook.url))
      files += webhook.headers.enumerated().map { ("notify.webhooks[\(index)].headers[\($0)].value.file", $1.value) }
    }
    for (index, command) in notify.commands.enumerated() {
      files += command.environment.enumerated().map {
        ("notify.commands[\(index)].environment[\($0)].value.file", $1.value)
      }
    }
    for case (let key, .file(let file)) in files {
      let path = path(file)
      guard let status = stat.of(path) else {
        warn(key, "the file \(path) does not exist now; write the text into it")
        continue
      }
      if status.st_mode & 0o004 != 0 { warn(key, "every user can read \(path); take that right away with chmod o-r") }
    }
  }

  private func warnOfInputs(_ warn: (String, String) -> Void) {
    if !sourceOptional {
      for (index, source) in source.enumerated() {
        guard let message = missing(source) else { continue }
        warn("source[\(index)]", message)
      }
    }
    if let folder = inbox?.folder, !RejectsDestination.isFolder(path(folder)) {
      warn("inbox.folder", "the folder \(path(folder)) does not exist; make it, or check the path")
    }
  }

  private func missing(_ source: String) -> String? {
    if read != nil { return nil }
    var one = self
    one.source = [source]
    let inputs = InputFiles.expand(one)
    if let unreadable = inputs.first(where: { $0.unreadable != nil }) { return unreadable.failure?.message }
    guard let input = inputs.first, input.path != "-" else { return nil }
    if input.isUnmatchedPattern { return "no file matches '\(source)' now" }
    return FileManager.default.fileExists(atPath: input.path) ? nil : "the file \(source) does not exist now"
  }

  private func warnOfStore(_ path: String, _ warn: (String, String) -> Void) {
    let files = FileManager.default
    guard !StoreAddress.isAddress(path), !files.fileExists(atPath: path) else { return }
    if imports.allSatisfy(\.columns.isEmpty) {
      warn("store", "the store \(path) to export from does not exist; check the path, or import into it first")
    } else if !files.fileExists(atPath: OutputPath.folder(of: path)) {
      warn("store", "the folder \(OutputPath.folder(of: path)) does not exist; the first import will make it")
    }
  }

  /// Warns of a file in a folder that a run does not make.
  private func warn(ofOwn file: String, key: String, _ warn: (String, String) -> Void) {
    let path = path(file)
    if OwnFolders.isRelative(file), !FileManager.default.fileExists(atPath: OutputPath.folder(of: path)) { return }
    Self.warn(of: path, key: key, warn)
  }

  /// Warns if the file can't be written at present; a run would refuse to begin.
  private static func warn(of path: String, key: String, _ warn: (String, String) -> Void) {
    do throws(RunFailure) {
      try OutputPath.check(path)
    } catch {
      warn(key, error.message)
    }
  }
}
