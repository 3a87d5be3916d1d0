extension CommandOption {
  /// The first words about each option in a usage text, and whether the option may be repeated, by its name.
  ///
  /// Only the completion of a shell reads them, so the options of an ordinary start are read without them.
  static func summaries(in usage: String) -> [String: (text: String, repeats: Bool)] {
    var texts: [String: String] = [:]
    var option: String?
    for line in usage.split(separator: "\n", omittingEmptySubsequences: false) {
      let indent = line.prefix { $0 == " " }.count
      let text = line.dropFirst(indent)
      if text.first == "-", let declared = declared(in: String(line)).first {
        option = declared.name
        let words = text.firstRange(of: "  ").map { text[$0.upperBound...].drop { $0 == " " } }
        texts[declared.name] = String(words ?? "")
      } else if indent > 8, let name = option {
        texts[name] = (texts[name].map { $0.isEmpty ? "" : $0 + " " } ?? "") + text
      } else {
        option = nil
      }
    }
    return texts.mapValues { text in
      (text.split(separator: ";", maxSplits: 1).first.map(String.init) ?? "", text.contains("may be repeated"))
    }
  }
}
