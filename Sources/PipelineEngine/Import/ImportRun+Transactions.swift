import Foundation
import OpenCoreData

/// The transactions of a run.
extension ImportRun {
  /// Imports one input in a transaction of its own, where the pipeline requires it.
  func wholly(
    _ part: ImportPart, _ contexts: ImportContexts, ledger: Ledger, totals: inout ImportTotals,
    body: (inout ImportTotals) throws(RunFailure) -> LedgerEntry
  ) throws(RunFailure) -> LedgerEntry {
    guard part.environment.savesInputsWhole else { return try body(&totals) }
    let before = totals
    try store.beginTransaction()
    func rollBack() throws(RunFailure) {
      try store.rollBackTransaction()
      if store.isWritten { contexts.reset() }
      ledger.didRollBack()
      totals.rollBack(to: before)
    }
    do throws(RunFailure) {
      let entry = try body(&totals)
      if totals.outcome == .completed {
        try store.commitTransaction(of: entry, environment.tables)
      } else {
        try rollBack()
      }
      return entry
    } catch {
      try rollBack()
      throw error
    }
  }

  /// An atomic run is one transaction: it is committed if everything succeeded, and otherwise rolled back. If links show
  /// that records can't be imported, all of it is done again without them.
  func transaction(
    _ totals: inout ImportTotals, _ ledger: Ledger,
    body: (inout ImportTotals) throws(RunFailure) -> RunFailure?
  ) throws(RunFailure) -> RunFailure? {
    guard definition.atomic else { return try body(&totals) }
    let before = totals
    let log = environment.monitor.log
    defer { log.release() }
    for _ in 0..<Self.attemptsMax {
      environment.late?.beginAgain()
      if mayBeginAgain { log.hold() }
      try store.beginTransaction()
      let failure = try body(&totals)
      let isRepeated = failure == nil && totals.outcome == .completed && environment.late?.newlyRefused ?? 0 > 0
      if failure == nil, totals.outcome == .completed, !isRepeated {
        do throws(RunFailure) {
          // Inputs that were known have the row of an earlier run, which says nothing of this one.
          let last = totals.completed.last { $0.run == environment.runID }
          try store.commitTransaction(of: last, environment.tables)
        } catch {
          try? store.rollBackTransaction()
          ledger.didRollBack()
          totals.rollBack(to: before)
          throw error
        }
        return nil
      }
      try store.rollBackTransaction()
      ledger.didRollBack()
      if !isRepeated {
        totals.rollBack(to: before)
        return failure
      }
      totals.beginAgain(from: before)
      log.drop()
      for part in parts { part.environment.rejectsNames.forget() }
    }
    throw RunFailure(
      code: .missingObject, exitCode: .dataError,
      message: "without the records that lead to nothing, others led to nothing, \(Self.attemptsMax) times in a row; "
        + "nothing was imported. Import the files without these records first")
  }

  private static let attemptsMax = 50

  /// Whether records can turn out to lead to nothing when all are imported.
  private var mayBeginAgain: Bool {
    environment.late != nil && parts.contains { $0.environment.links.contains(where: \.isLate) }
  }

  /// Sets the links that had to wait until all entries are in the store.
  func setLateLinks(_ ledger: Ledger, _ totals: inout ImportTotals) -> RunFailure? {
    guard let late = environment.late, !late.inputs.isEmpty else { return nil }
    do {
      var run = LateLinkRun(late, of: parts, ledger)
      try run.find()
      // What was not read to its end does not show what is missing.
      if environment.monitor.isCancelled() {
        totals.outcome = .cancelled
        return nil
      }
      if late.newlyRefused == 0 { try run.set(&totals) }
      return nil
    } catch {
      return RunFailure(saving: error)
    }
  }
}
