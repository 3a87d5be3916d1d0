/// Regular expressions in a pipeline's file.
enum PatternText {
  /// The expression that matches a text and nothing else.
  static func matching(_ text: String) -> String {
    var result = ""
    for character in text {
      if "\\.*?+[](){}^$|#".contains(character) { result.append("\\") }
      result.append(character)
    }
    return result
  }
}
