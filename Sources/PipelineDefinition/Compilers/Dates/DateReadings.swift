/// Counts in which of several readings the dates of a column can be read, such as `M/d/yy` and `d/M/yy`, and puts the
/// counts into words.
package struct DateReadings: Sendable {
  /// One way to read the dates.
  package struct Reading: Sendable {
    /// What messages call it: a pattern.
    package var name: String
    /// Each text is read by one of them.
    package let formats: [DateFormat]
    /// How many texts can be read so.
    package fileprivate(set) var count = 0
    /// How many texts can be read only so.
    package fileprivate(set) var only = 0

    package init(_ name: String, formats: [DateFormat]) { (self.name, self.formats) = (name, formats) }

    /// The seconds since 2001 of a text; nil if it can't be read so.
    package func seconds(_ text: Span<UInt8>) -> Double? {
      for format in formats {
        if let seconds = format.seconds(text) { return seconds }
      }
      return nil
    }
  }

  package var readings: [Reading]
  /// How many texts were counted.
  package private(set) var total = 0

  package init(_ readings: [Reading]) { self.readings = readings }

  /// Counts a text.
  ///
  /// - Parameter isDate: Whether it counts even if no reading reads it, because it has the form of a date.
  /// - Returns: The indices of the readings that read it.
  @discardableResult
  package mutating func add(_ text: Span<UInt8>, isDate: Bool = false) -> [Int] {
    var readable: [Int] = []
    for index in readings.indices where readings[index].formats.contains(where: { $0.reads(text) }) {
      readable.append(index)
      readings[index].count += 1
    }
    if readable.count == 1 { readings[readable[0]].only += 1 }
    if isDate || !readable.isEmpty { total += 1 }
    return readable
  }

  /// The indices of the readings that read all texts.
  package var complete: [Int] { readings.indices.filter { readings[$0].count == total } }

  // MARK: Words

  /// `28 of 40 can be d/M/yy`.
  package func canBe(_ index: Int) -> String {
    "\(readings[index].count) of \(total) can be \(readings[index].name)"
  }

  /// `12 of 40 can't be M/d/yy`.
  package func cannotBe(_ index: Int) -> String {
    "\(total - readings[index].count) of \(total) can't be \(readings[index].name)"
  }

  /// `12 of 40 can only be d/M/yy`.
  package func canOnlyBe(_ index: Int) -> String {
    "\(readings[index].only) of \(total) can only be \(readings[index].name)"
  }

  /// `all 40 can be M/d/yy or d/M/yy`.
  package func allCanBe(_ indices: [Int]) -> String {
    let names = indices.map { readings[$0].name }.joined(separator: " or ")
    return "\(total == 1 ? "the only date" : "all \(total)") can be \(names)"
  }
}
