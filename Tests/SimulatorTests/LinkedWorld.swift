import Foundation
import TestSupport

/// What a plain model knows of a store that runs of two parts fill: spots by their names, and sessions that lead to spots
/// and tags, some of them with a photo in a file.
struct LinkedModel {
  /// A mistake that a test plants, to see that it is found.
  enum Mistake: CaseIterable {
    /// What a session leads to is not part of the comparison.
    case comparesBlindly
    case forgetsCodes
    case keepsReplaced
    /// Records that were left out for sessions that are gone stay left out.
    case trustsWhatIsGone
    /// Sessions stay when their spot is deleted.
    case forgetsCascade
  }

  struct Row: Hashable {
    var number: Int
    var rating: String
    var spot: String
    var tags: [String]
    /// The byte that the photo consists of; empty for none.
    var photo = ""
  }

  /// A record of a file of sessions.
  struct Record: Hashable {
    var row: Row
    /// The code of the spot; empty for none.
    var code: String
  }

  struct Counts: Equatable {
    var inserted = 0
    var updated = 0
    var unchanged = 0
    var rejected = 0
    /// How often records have changed spots over their links.
    var changed = 0
  }

  /// What an undo needs.
  private struct Run {
    var inputs: Set<Int> = []
    var spots: [String: String] = [:]
    var contents: [String: [Content]] = [:]
    var hasReplaced = false
  }

  /// The content of a file that was imported.
  private struct Content {
    let input: Int
    let text: String
    /// Whether records were left out because the store had equal sessions.
    var leftOut = false
    /// Whether what it has left out may be gone since: the next run imports it again.
    var isOutdated = false
  }

  let replaces: Bool
  var mistake: Mistake?
  /// The codes by name; empty for none.
  private(set) var spots: [String: String] = [:]
  private(set) var sessions: [(input: Int, row: Row)] = []
  private(set) var tags: Set<String> = []
  private var contents: [String: [Content]] = [:]
  private var runs: [Run] = []
  private var inputCount = 0

  init(replaces: Bool) { self.replaces = replaces }

  /// What the store holds, sorted.
  var lines: [String] {
    let sessions = sessions.map(\.row).map { row in
      "session \(row.number) \(row.rating) \(row.spot) \(row.tags.joined(separator: ",")) \(row.photo)"
    }
    return (spots.map { "spot \($0) \($1)" } + tags.map { "tag \($0)" } + sessions).sorted()
  }

  // MARK: Runs

  /// Imports the files; those that were imported last do nothing, unless they were outdated before the run.
  ///
  /// - Parameter continues: Whether it ends what an earlier run has begun: both are taken back at once.
  @discardableResult
  mutating func run(
    spots file: [(name: String, code: String)], sessions files: [String: [Record]], continues: Bool = false
  ) -> Counts {
    var counts = Counts()
    var run = continues ? runs.popLast() ?? Run() : Run(spots: spots, contents: contents)
    let outdated = Set(contents.filter { $0.value.last?.isOutdated == true }.keys)
    if begin("spots.csv", "\(file)", in: &run) {
      for (name, code) in file {
        if spots[name] == nil {
          counts.inserted += 1
        } else if spots[name] == code {
          counts.unchanged += 1
        } else {
          counts.updated += 1
        }
        spots[name] = code
      }
    }
    for (path, records) in files.sorted(by: { $0.key < $1.key }) {
      let old = Set(contents[path, default: []].map(\.input))
      guard begin(path, "\(records)", again: outdated.contains(path), in: &run) else { continue }
      if replaces, !old.isEmpty {
        run.hasReplaced = true
        contents[path]?.removeAll { old.contains($0.input) }
        outdate(after: old)
      }
      let unchanged = counts.unchanged
      take(records, replacing: replaces ? old : [], matches: !replaces || !old.isEmpty, &counts)
      if counts.unchanged > unchanged, let last = contents[path]?.indices.last { contents[path]?[last].leftOut = true }
    }
    if !run.inputs.isEmpty { runs.append(run) }
    return counts
  }

  /// What was imported after inputs that are replaced, and left out records, may have left them out for their sessions.
  private mutating func outdate(after old: Set<Int>) {
    guard mistake != .trustsWhatIsGone, let first = old.min() else { return }
    for (path, list) in contents {
      contents[path] = list.map { content in
        var content = content
        if content.leftOut, content.input > first { content.isOutdated = true }
        return content
      }
    }
  }

  /// Whether a file is imported: its content was not the last one, or that is outdated.
  private mutating func begin(_ path: String, _ text: String, again: Bool = false, in run: inout Run) -> Bool {
    if contents[path]?.last?.text == text, !again { return false }
    inputCount += 1
    contents[path, default: []].append(Content(input: inputCount, text: text))
    run.inputs.insert(inputCount)
    return true
  }

  private mutating func take(
    _ records: [Record], replacing old: Set<Int>, matches: Bool, _ counts: inout Counts
  ) {
    func key(_ row: Row) -> Row {
      mistake == .comparesBlindly ? Row(number: row.number, rating: row.rating, spot: "", tags: []) : row
    }
    var (replaced, stored) = ([Row: Int](), [Row: Int]())
    for session in sessions {
      if old.contains(session.input) {
        replaced[key(session.row), default: 0] += 1
      } else {
        stored[key(session.row), default: 0] += 1
      }
    }
    if mistake != .keepsReplaced { sessions.removeAll { old.contains($0.input) } }
    for record in records {
      let row = record.row
      guard row.spot.isEmpty || spots[row.spot] != nil else {
        counts.rejected += 1
        continue
      }
      if !row.spot.isEmpty, !record.code.isEmpty, spots[row.spot] != record.code {
        counts.changed += 1
        if mistake != .forgetsCodes { spots[row.spot] = record.code }
      }
      if replaced[key(row), default: 0] > 0 {
        replaced[key(row), default: 0] -= 1
      } else if matches, stored[key(row), default: 0] > 0 {
        stored[key(row), default: 0] -= 1
        counts.unchanged += 1
        continue
      }
      counts.inserted += 1
      sessions.append((inputCount, row))
      tags.formUnion(row.tags)
    }
  }

  // MARK: Undos

  /// Whether the last run can be taken back: nothing that it built on was replaced since.
  var canUndo: Bool { !runs.isEmpty }

  mutating func undo() {
    guard let run = runs.popLast() else { return }
    sessions.removeAll { run.inputs.contains($0.input) }
    let gone = Set(spots.keys).subtracting(run.spots.keys)
    spots = run.spots
    precondition(!sessions.contains { gone.contains($0.row.spot) })
    for path in contents.keys { contents[path]?.removeAll { run.inputs.contains($0.input) } }
    // What was replaced does not return, and neither do the values that it had overwritten.
    if run.hasReplaced { runs = [] }
  }

  // MARK: Deletions

  /// Deletes a spot by hand: its sessions go with it.
  mutating func delete(_ spot: String) {
    spots[spot] = nil
    if mistake != .forgetsCascade { sessions.removeAll { $0.row.spot == spot } }
  }
}
