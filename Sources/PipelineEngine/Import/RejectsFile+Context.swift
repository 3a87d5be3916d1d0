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
