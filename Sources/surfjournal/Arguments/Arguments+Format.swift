extension Arguments {
  /// The format of a result: the value of `--format`, or an option that is a format's name.
  func format<Format: RawRepresentable & CaseIterable & Equatable>(
    usual: Format, orOption options: [String]
  ) throws(CommandFailure) -> Format where Format.RawValue == String {
    let named = try choice("format", Format.self)
    let short = options.filter(has)
    let given = short.map { "--\($0)" } + (named.map { ["--format \($0.rawValue)"] } ?? [])
    let formats = short.compactMap(Format.init(rawValue:)) + (named.map { [$0] } ?? [])
    if let first = formats.first, let other = formats.firstIndex(where: { $0 != first }) {
      throw mistake("\(given[0]) and \(given[other]) exclude each other; leave one out")
    }
    return formats.first ?? usual
  }
}
