extension String {
  /// For comparing names as SQLite does: only ASCII letters are folded.
  var sqlFolded: String {
    String(decoding: utf8.map { (0x61...0x7A).contains($0) ? $0 - 0x20 : $0 }, as: UTF8.self)
  }
}
