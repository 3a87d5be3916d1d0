import Foundation

/// A column's label in the form in which labels are compared: small letters without accents, words only.
struct LabelText: Sendable, Hashable {
  let words: [String]
  var text: String { words.joined(separator: " ") }

  init(_ label: String) {
    var plain = ""
    var depth = 0
    var previous: Character?
    for character in label {
      if "([{".contains(character) { depth += 1 }
      // What is in brackets is a unit or a range.
      if depth == 0 {
        if character.isUppercase, previous?.isLowercase ?? false { plain.append(" ") }
        plain.append(character.isLetter || character.isNumber ? character : " ")
      }
      if ")]}".contains(character) { depth = max(0, depth - 1) }
      previous = character
    }
    let folded = plain.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
    words = folded.split(separator: " ").map(String.init)
  }

  /// How well this label says what `other` says, from 0 to 1.
  func similarity(to other: LabelText) -> Double {
    if words.isEmpty || other.words.isEmpty { return 0 }
    if words == other.words || words.joined() == other.words.joined() { return 1 }
    if contains(other.words) { return max(0.7, 0.9 - 0.05 * Double(words.count - other.words.count)) }
    // German joins words: Wellenhöhe, Windstärke.
    if other.words.count == 1, let word = other.words.first, word.count >= 4 {
      if words.contains(where: { $0.hasPrefix(word) || $0.hasSuffix(word) }) { return 0.7 }
    }
    return 0
  }

  private func contains(_ other: [String]) -> Bool {
    guard other.count <= words.count else { return false }
    return (0...(words.count - other.count)).contains { Array(words[$0..<($0 + other.count)]) == other }
  }
}
