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
    if BinaryPropertyListReader.isOne(data) { _ = try BinaryPropertyListReader.read(data) }
    guard let list = try? PropertyListSerialization.propertyList(from: data, format: nil) else {
      throw ArchiveProblem("it is not a property list")
    }
    guard let dictionary = list as? [String: Any] else { throw ArchiveProblem("its top element is not a dictionary") }
    return dictionary
  }
}
