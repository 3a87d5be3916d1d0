extension String {
  /// Byte order of the UTF-8 text, independent of the locale: the sort order of slots, hashes and columns.
  package static func byteOrder(_ left: String, _ right: String) -> Bool {
    left.utf8.lexicographicallyPrecedes(right.utf8)
  }
}
