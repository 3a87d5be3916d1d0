import Foundation

/// Property lists from files that other programs wrote.
///
/// Foundation's reader unfolds what a binary list shares: a list of 400 bytes can become terabytes. A list is therefore
/// measured before Foundation reads it.
package enum PropertyListData {
  /// Longer lists are refused. Those of stores and model packages have some kilobytes.
  package static let bytesMax = 16 << 20

  /// The list's dictionary.
  ///
  /// - Throws: The reason why the data is not a property list of a dictionary, or is too large.
  package static func dictionary(_ data: Data) throws(ArchiveProblem) -> [String: Any] {
    guard data.count <= bytesMax else { throw ArchiveProblem("it has more than \(bytesMax >> 20) MiB") }
    let list: Any
    if BinaryPropertyListReader.isOne(data) {
      _ = try BinaryPropertyListReader.read(data)
      guard let read = try? PropertyListSerialization.propertyList(from: data, format: nil) else { throw notOne }
      list = read
    } else {
      list = try xml(data)
    }
    guard let dictionary = list as? [String: Any] else { throw ArchiveProblem("its top element is not a dictionary") }
    return dictionary
  }

  static let notOne = ArchiveProblem("it is not a property list")

  /// A list of XML. Foundation's reader calls itself for each container within another.
  static func xml(_ data: Data) throws(ArchiveProblem) -> Any {
    // Foundation would also read the format before XML, which no store and no model has.
    guard data.first(where: { !whitespace.contains($0) }) == UInt8(ascii: "<") else { throw notOne }
    try checkDepth(ofXML: data)
    guard let list = try? PropertyListSerialization.propertyList(from: data, format: nil) else { throw notOne }
    return list
  }

  /// Spaces, line ends, and the mark of UTF-8.
  private static let whitespace = Array(" \t\r\n\u{FEFF}".utf8)

  private static let starts = ["<array", "<dict"].map { Array($0.utf8) }
  private static let ends = ["</array", "</dict"].map { Array($0.utf8) }
  /// Parts whose text only looks like elements: how they begin, and how they end.
  private static let others = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")].map {
    (start: Array($0.utf8), end: Array($1.utf8))
  }

  /// Counts what looks like the start of a container everywhere, and its end only where it is one, so that no list is
  /// deeper than it seems.
  private static func checkDepth(ofXML data: Data) throws(ArchiveProblem) {
    let bytes = [UInt8](data)
    var depth = 0
    var partEnd: [UInt8]?
    for index in bytes.indices {
      let rest = bytes[index...]
      if let end = partEnd, rest.starts(with: end) { partEnd = nil }
      guard bytes[index] == UInt8(ascii: "<") else { continue }
      if let start = starts.first(where: rest.starts) {
        // An element that ends at once has nothing in it. Others may have attributes.
        if rest.dropFirst(start.count).first == UInt8(ascii: "/") { continue }
        depth += 1
        partEnd = partEnd ?? [UInt8(ascii: ">")]
      } else if partEnd == nil, ends.contains(where: rest.starts) {
        depth = max(0, depth - 1)
      } else if partEnd == nil {
        partEnd = others.first { rest.starts(with: $0.start) }?.end
      }
      // The value in the innermost container is a level, too.
      guard depth < BinaryPropertyListReader.depthMax else { throw BinaryPropertyListReader.tooDeep }
    }
  }
}
