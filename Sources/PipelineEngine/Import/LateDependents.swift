import OpenCoreData
import PersistentStores

/// A record of a run whose links wait.
struct LateRecord: Hashable {
  /// The index of its input.
  let input: Int
  let number: UInt64
}

/// Which records lead to the entries that other records insert.
final class LateDependents {
  /// Where a record names an entry.
  struct Reference {
    let input: Int
    let naming: Int
    let element: Int
  }

  private let run: LateLinkRun
  private lazy var references = referencesByEntry()
  private lazy var inserted = insertedEntries()

  init(_ run: LateLinkRun) { self.run = run }

  /// The records that lead to entries of these records, directly or by way of others, each with its reference.
  ///
  /// - Parameter policies: Those of the links that count.
  func records(
    leadingTo records: [LateRecord], by policies: [LinkDefinition.MissingPolicy]
  ) -> [(record: LateRecord, reference: Reference)] {
    var found: [(record: LateRecord, reference: Reference)] = []
    var (known, open) = (Set(records), records)
    while let record = open.popLast() {
      for reference in (inserted[record] ?? []).flatMap({ references[$0] ?? [] }) {
        let input = run.late.inputs[reference.input]
        let naming = input.namings[reference.naming]
        let dependent = LateRecord(input: reference.input, number: naming.record)
        guard policies.contains(run.link(naming, of: input).policy), known.insert(dependent).inserted else { continue }
        found.append((dependent, reference))
        open.append(dependent)
      }
    }
    return found
  }

  private func referencesByEntry() -> [NSManagedObjectID: [Reference]] {
    var references: [NSManagedObjectID: [Reference]] = [:]
    for (number, input) in run.late.inputs.enumerated() {
      for (index, naming) in input.namings.enumerated() {
        for element in naming.elements {
          guard let id = run.targets[number][element] else { continue }
          references[id, default: []].append(Reference(input: number, naming: index, element: element))
        }
      }
    }
    return references
  }

  private func insertedEntries() -> [LateRecord: [NSManagedObjectID]] {
    var entries: [LateRecord: [NSManagedObjectID]] = [:]
    for (number, input) in run.late.inputs.enumerated() {
      let store = run.parts[input.part].environment.store
      for naming in input.namings where naming.state == .inserted {
        guard let id = store.coordinator.objectID(of: store.entity, key: naming.key) else { continue }
        let record = LateRecord(input: number, number: naming.record)
        if entries[record]?.last != id { entries[record, default: []].append(id) }
      }
    }
    return entries
  }
}

extension LateLinkRun {
  /// The records that were refused in this attempt.
  func refusedRecords() -> [LateRecord] {
    if late.newlyRefused == 0 { return [] }
    return late.inputs.enumerated().flatMap { number, input in
      let refused = late.refusedRecords(of: input)
      return input.namings.lazy.map(\.record).filter(refused.contains).map { LateRecord(input: number, number: $0) }
    }
  }

  /// Refuses records because of what they lead to.
  func refuse(_ dependents: [(record: LateRecord, reference: LateDependents.Reference)]) {
    let known = Set(refusedRecords())
    for (record, reference) in dependents where !known.contains(record) {
      let input = late.inputs[reference.input]
      let naming = input.namings[reference.naming]
      let link = link(naming, of: input)
      refuse(naming, of: input, over: link, code: .missingObject, element: reference.element) {
        "the record of the \(link.destinationName) with \($0) is rejected; correct that one"
      }
    }
  }
}
