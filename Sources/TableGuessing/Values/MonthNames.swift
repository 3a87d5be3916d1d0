/// Names of months, which ``DateFormat`` has no letter for: a pipeline replaces them by numbers first.
enum MonthNames {
  struct Words: Hashable {
    /// The date with numbers only: `14.7.2014`, and what follows it.
    var numbered: String
    var isMonthFirst: Bool
  }

  /// Beginnings by which a month is recognized, in five languages; the longest match counts.
  private static let stems: [[String]] = [
    ["jan", "jän", "ene", "janv"], ["feb", "fév", "fev", "févr"], ["mar", "mär", "mrz", "mars"],
    ["apr", "abr", "avr"], ["may", "mai", "mayo"], ["jun", "juin"], ["jul", "juil"],
    ["aug", "ago", "aoû", "aou"], ["sep", "set"], ["oct", "okt", "out"], ["nov"], ["dec", "dez", "dic", "déc"],
  ]

  /// The longest written forms, which a name may be cut from.
  private static let names: [[String]] = [
    ["january", "januar", "jänner", "enero", "janeiro", "janvier"],
    ["february", "februar", "febrero", "fevereiro", "février"], ["march", "märz", "mrz", "marzo", "março", "mars"],
    ["april", "abril", "avril"], ["may", "mai", "mayo", "maio"], ["june", "juni", "junio", "junho", "juin"],
    ["july", "juli", "julio", "julho", "juillet"], ["august", "agosto", "août", "aout"],
    ["september", "septiembre", "setiembre", "setembro", "septembre", "sept"],
    ["october", "oktober", "octubre", "outubro", "octobre"], ["november", "noviembre", "novembro", "novembre"],
    ["december", "dezember", "diciembre", "dezembro", "décembre"],
  ]

  static func month(_ word: String) -> Int? {
    let word = word.lowercased()
    guard word.count >= 3 else { return nil }
    for (index, list) in stems.enumerated() where list.contains(where: { word.hasPrefix($0) }) {
      if names[index].contains(where: { $0.hasPrefix(word) }) { return index + 1 }
    }
    return nil
  }

  /// A text that is a day, a month's name and a year, and perhaps a time; nil for others.
  static func words(_ text: String) -> Words? {
    var rest = Substring(text)
    var numbers: [Substring] = []
    var month: Int?
    var isMonthFirst = false
    while numbers.count < 2 || month == nil {
      rest = rest.drop { " .,-/".contains($0) }
      guard let first = rest.first else { return nil }
      let token = rest.prefix { first.isNumber ? $0.isNumber : $0.isLetter }
      guard !token.isEmpty else { return nil }
      rest = rest.dropFirst(token.count)
      if first.isNumber {
        // The year is the last of the three.
        guard token.count <= (numbers.isEmpty ? 2 : 4), numbers.isEmpty || month != nil else { return nil }
        numbers.append(token)
      } else {
        guard month == nil, let number = Self.month(String(token)) else { return nil }
        month = number
        isMonthFirst = numbers.isEmpty
      }
    }
    guard let month, numbers[1].count != 1, numbers[1].count != 3 else { return nil }
    return Words(numbered: "\(numbers[0]).\(month).\(numbers[1])\(rest)", isMonthFirst: isMonthFirst)
  }

  /// Regular expressions, one for each month, and what they replace a date's beginning with.
  static func replacements(isMonthFirst: Bool) -> [(matches: String, with: String)] {
    stems.enumerated().map { index, stems in
      let name = "(?:\(stems.joined(separator: "|")))\\p{L}*"
      let day = "(\\d{1,2})"
      let between = "[^\\p{L}\\d]*"
      let parts = isMonthFirst ? [name, day] : [day, name]
      return ("(?i)^\(parts.joined(separator: between))\(between)(\\d{4}|\\d{2})", "$1.\(index + 1).$2")
    }
  }
}
