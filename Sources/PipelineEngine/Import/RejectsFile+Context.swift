import CSV
import Foundation

extension RejectsFile.Context {
  /// The store or seed that the rejects belong to.
  var owner: String? { store ?? seed }

  /// The first line of the file next to the rejects.
  var line: [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Texts can always be encoded.
    let data = (try? encoder.encode(self)) ?? Data()
    // A file's name may have characters that turn a line of a terminal around.
    return Array(RawText.json(data)) + [UInt8(ascii: "\n")]
  }
}

extension RejectsFile {
  /// Whether a file is one of rejects or of their details, be they published, unfinished, or set aside by a replay.
  static func isOfRejects(_ path: String) -> Bool {
    // An input of JSON Lines may have some of the members of details.
    if path.contains(".jsonl"), let origin = Replay.origin(inDetails: path), origin.run != nil, origin.rejects != nil {
      return true
    }
    var details = [detailsPath(of: path)]
    if path.hasSuffix(".part") || path.contains(".replayed"),
      let match = path.firstMatch(of: /\.(?:part|replayed(?:\.[0-9]+)?)$/)
    {
      let published = detailsPath(of: String(path[..<match.range.lowerBound]))
      details += [published, "\(published)\(match.output)"]
    }
    return details.contains { Replay.origin(inDetails: $0)?.run != nil }
  }
}
