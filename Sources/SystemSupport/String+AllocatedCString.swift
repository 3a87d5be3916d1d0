extension String {
  /// A copy for a library of C, whose owner deallocates it. Without memory the process ends, as at each allocation of
  /// Swift: strdup(3) would give nil, which ends a list of arguments.
  package func allocatedCString() -> UnsafeMutablePointer<CChar> {
    let text = utf8CString
    let copy = UnsafeMutablePointer<CChar>.allocate(capacity: text.count)
    for (index, character) in text.enumerated() { (copy + index).initialize(to: character) }
    return copy
  }
}
