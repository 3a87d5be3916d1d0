/// Where the files of an inbox will be.
extension ImportRun {
  /// Says of each file of an inbox where `moveFiles` will put it.
  func setPlaces(_ outcome: inout Outcome, _ totals: ImportTotals) {
    if copied != nil || isDryRun || !outcome.isDurable { return }
    let listed = outcome.listed.map { Set($0.compactMap { $0.inboxFile?.path }) }
    for (number, part) in parts.enumerated() {
      guard let inbox = part.inbox else { continue }
      let files = filesToMove(outcome, part: number)
      let results = Dictionary(files.map { ($0.file.name, $0) }) { $1 }
      func set(_ files: inout [RunSummary.File], readBy readers: [Int]) {
        for (index, reader) in zip(files.indices, readers) {
          // Other parts may have a file of the same name in another inbox.
          guard let (file, result) = results[files[index].path], listed[reader].contains(file.path) else { continue }
          files[index].movedTo = inbox.path(of: file, movedTo: result, on: environment.startedAt)
        }
      }
      set(&outcome.summary.inputs, readBy: totals.fileParts)
      if var unread = outcome.summary.unreadInputs {
        set(&unread, readBy: totals.unreadParts)
        outcome.summary.unreadInputs = unread
      }
    }
  }

  /// Where `moveFiles` will put the files that have failed.
  func failedPaths(_ outcome: Outcome) -> [String] {
    if copied != nil || isDryRun || !outcome.isDurable { return [] }
    return parts.enumerated().flatMap { number, part in
      filesToMove(outcome, part: number).compactMap { file, result in
        result == .failed ? part.inbox?.path(of: file, movedTo: .failed, on: environment.startedAt) : nil
      }
    }
  }
}

extension RunSummary {
  /// Leaves out where files were to be moved and are not.
  mutating func keepPlaces(where isThere: (String) -> Bool) {
    func kept(_ files: [File]) -> [File] {
      files.map { file in
        var file = file
        file.movedTo = file.movedTo.flatMap { isThere($0) ? $0 : nil }
        return file
      }
    }
    (inputs, unreadInputs) = (kept(inputs), unreadInputs.map(kept))
    failedPaths = failedPaths.filter(isThere)
  }
}
