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
  struct Place {
    let input: Int
    let naming: Int
    let element: Int
  }

  private let run: LateLinkRun
  private lazy var places = placesByEntry()
  private lazy var inserted = insertedEntries()

  init(_ run: LateLinkRun) { self.run = run }

  /// The records that lead to entries of these records, directly or by way of others, with the place of each that does.
  ///
  /// - Parameter policies: Those of the links that count.
  func records(
    leadingTo records: [LateRecord], by policies: [LinkDefinition.MissingPolicy]
  ) -> [(record: LateRecord, place: Place)] {
    var found: [(record: LateRecord, place: Place)] = []
    var (known, open) = (Set(records), records)
    while let record = open.popLast() {
      for place in (inserted[record] ?? []).flatMap({ places[$0] ?? [] }) {
        let input = run.late.inputs[place.input]
        let naming = input.namings[place.naming]
        let dependent = LateRecord(input: place.input, number: naming.record)
        guard policies.contains(run.link(naming, of: input).policy), known.insert(dependent).inserted else { continue }
        found.append((dependent, place))
        open.append(dependent)
      }
    }
    return found
  }

  private func placesByEntry() -> [NSManagedObjectID: [Place]] {
    var places: [NSManagedObjectID: [Place]] = [:]
    for (number, input) in run.late.inputs.enumerated() {
      for (index, naming) in input.namings.enumerated() {
        for element in naming.elements {
          guard let id = run.targets[number][element] else { continue }
          places[id, default: []].append(Place(input: number, naming: index, element: element))
        }
      }
    }
    return places
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
  func refuse(_ dependents: [(record: LateRecord, place: LateDependents.Place)]) {
    let known = Set(refusedRecords())
    for (record, place) in dependents where !known.contains(record) {
      let input = late.inputs[place.input]
      let naming = input.namings[place.naming]
      let link = link(naming, of: input)
      refuse(naming, of: input, over: link, code: .missingObject, element: place.element) {
        "the record of the \(link.destinationName) with \($0) is rejected; correct that one"
      }
    }
  }
}
