import Foundation
import SystemSupport
import PersistentStores

/// A dry run of several parts, of records that lead to related objects, or of several inputs that replace earlier ones: an
/// import into a private copy of the store, which is a file also where the store is on a server. A later record finds what
/// an earlier one would have imported, so that the counts are those of the import.
enum DryRunOnCopy {
  static func run(
    _ definition: PipelineDefinition, options: RunOptions, model: RunModel, monitor: RunMonitor
  ) throws(PipelineError) -> RunSummary {
    var store = CopiedStore(location: definition.storeLocation(options))
    let (folder, rejects): (PrivateFolder, String)
    var copy: PrivateCopy?
    var copyPath: String?
    var unfinished: CopiedRejects?
    let requested = options.rejects == nil ? nil : RejectsDestination.requested(definition, options)
    do {
      if let requested, !RejectsDestination.isFolder(requested) { try RejectsDestination.check(requested) }
      folder = try PrivateFolder()
      rejects = folder.url.appendingPathComponent("rejects").path + "/"
      try FileManager.default.createDirectory(atPath: rejects, withIntermediateDirectories: false)
      if let location = store.location, location.exists {
        if let path = location.path {
          let made = try OpenedDatabase.copy(path, isWritten: true, timeoutSeconds: options.lockTimeoutSeconds)
          (copy, copyPath, store.loss) = (made.copy, made.copy.path, made.loss)
          try copyLargeValues(of: path, to: made.copy.path)
        } else {
          let path = folder.url.appendingPathComponent("copy.sqlite").path
          _ = try StoreCopy.copy(
            location, to: StoreLocation(path), model: model.model, LedgerTables(definition.vocabulary),
            timeoutSeconds: options.lockTimeoutSeconds)
          copyPath = path
        }
        unfinished = try copyPath.map {
          try CopiedRejects(
            of: $0, in: folder.url.appendingPathComponent("unfinished").path, LedgerTables(definition.vocabulary),
            timeoutSeconds: options.lockTimeoutSeconds)
        }
      }
    } catch {
      let failure = Self.failure(error, store.location)
      return RunSummary(
        kind: .validate, pipeline: definition.name, outcome: .failed, failure: failure.summary,
        startedAt: options.now(), seconds: 0, store: store.location?.shown, program: definition.vocabulary.program)
    }
    defer { withExtendedLifetime((folder, copy)) {} }
    var inner = options
    inner.store = copyPath ?? folder.url.appendingPathComponent("new.sqlite").path
    (inner.reports, inner.namesStoreInRejects, inner.rejects) = ([], false, rejects)
    inner.isDryRunOnCopy = true
    var whole = definition
    whole.report = []
    let run = try ImportRun(
      whole, options: inner, model: model, isDryRun: false, monitor: monitor, copied: store)
    var summary = run.finish(run.run())
    summary.rejects = options.rejects == nil ? nil : summary.rejects
    if let requested {
      do throws(RunFailure) {
        summary.rejectsFiles = try move(rejects, unfinished, to: requested)
        summary.rejects = summary.rejectsFiles.isEmpty ? nil : summary.rejectsFiles.joined(separator: ", ")
      } catch {
        summary.failure = summary.failure ?? error.summary
        (summary.outcome, summary.rejects) = (.failed, nil)
      }
    }
    return summary
  }

  private static func failure(_ error: any Error, _ store: StoreLocation?) -> RunFailure {
    if let failure = error as? RunFailure { return failure }
    if let error = error as? SQLiteError {
      let message = "The store \(store?.shown ?? "") can't be opened"
      return RunFailure(store: .sqlite(error, .open, message: message), path: store?.path)
    }
    return RunFailure(store: error as NSError, path: store?.path)
  }

  /// Moves the rejects where the caller wants them; those of an earlier dry run are replaced.
  ///
  /// - Returns: Their paths for the report.
  private static func move(
    _ folder: String, _ others: CopiedRejects?, to requested: String
  ) throws(RunFailure) -> [String] {
    do {
      let files = FileManager.default
      let names = try FolderNames.sorted(in: folder)
      var moved: [String] = []
      let paths = names.map { folder + $0 } + (try others?.completed ?? [])
      for path in paths {
        let name = URL(fileURLWithPath: path).lastPathComponent
        let isFolder = RejectsDestination.isFolder(requested)
        let isOfDetails = RejectsFile.withoutDetails(path).map(paths.contains) ?? false
        let file = isOfDetails ? RejectsFile.detailsPath(of: requested) : requested
        let target = isFolder ? requested + (requested.hasSuffix("/") ? "" : "/") + name : file
        if isFolder { try files.createDirectory(atPath: requested, withIntermediateDirectories: true) }
        if mayExist(target) { try files.removeItem(atPath: target) }
        try files.copyItem(atPath: path, toPath: target)
        if !isOfDetails { moved.append(target) }
      }
      return moved
    } catch {
      throw RunFailure(store: error as NSError, path: requested)
    }
  }

  /// Values in files next to the store are found next to the copy.
  static func copyLargeValues(of path: String, to copy: String) throws {
    let (from, to) = (
      LargeValues.supportFolder(of: URL(fileURLWithPath: path)),
      LargeValues.supportFolder(of: URL(fileURLWithPath: copy))
    )
    guard mayExist(from.path) else { return }
    try FileManager.default.copyItem(at: from, to: to)
  }
}
