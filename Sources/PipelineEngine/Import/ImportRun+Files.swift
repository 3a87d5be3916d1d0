/// Where the files of an inbox will be.
extension ImportRun {
  /// Says of each file of an inbox where `moveFiles` will put it.
  func setPlaces(_ outcome: inout Outcome) {
    if shownStore != store.path || isDryRun || !outcome.isDurable { return }
    for (number, part) in parts.enumerated() {
      guard let inbox = part.inbox else { continue }
      for (file, result) in filesToMove(outcome, part: number) {
        let path = inbox.path(of: file, movedTo: result, on: environment.startedAt)
        for index in outcome.summary.inputs.indices where outcome.summary.inputs[index].path == file.name {
          outcome.summary.inputs[index].movedTo = path
        }
        for index in (outcome.summary.unreadInputs ?? []).indices
        where outcome.summary.unreadInputs?[index].path == file.name {
          outcome.summary.unreadInputs?[index].movedTo = path
        }
      }
    }
  }
}
