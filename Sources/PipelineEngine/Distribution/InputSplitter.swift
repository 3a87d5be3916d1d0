import CSV
import Foundation

/// Cuts one large input into parts that can be imported at the same time: each has the header and some of the records, and
/// their text in order is the input's.
package struct InputSplitter {
  /// A part that is complete.
  package struct Part: Sendable, Codable {
    package var path: String
    package var records: Int
    /// The size of its text, with the header.
    package var bytes: Int
    /// XXH3 with 128 bits of the text, as an import records it.
    package var contentHash: String
  }

  private let definition: PipelineDefinition
  private let path: String
  private let rowsMax: Int
  private let folder: String
  private let isCompressed: Bool
  private static let blockRows = 5000

  /// - Parameters:
  ///   - definition: Its dialect says where records end.
  ///   - path: The input.
  ///   - rowsMax: How many records a part has; the last one has the rest.
  ///   - folder: Where the parts are made. It must have none of them.
  ///   - isCompressed: Whether the parts are compressed with gzip.
  package init(
    _ definition: PipelineDefinition, path: String, rowsMax: Int, folder: String, isCompressed: Bool
  ) {
    (self.definition, self.path, self.rowsMax) = (definition, path, rowsMax)
    (self.folder, self.isCompressed) = (folder, isCompressed)
  }

  /// Reads the input once. Each part appears when it is complete.
  package func run(isCancelled: @escaping () -> Bool) throws(RunFailure) -> [Part] {
    guard definition.dialect.skipLastRows == 0 else {
      throw RunFailure(
        code: nil, exitCode: .configuration,
        message:
          "the pipeline leaves out the last records of each file, and each part would lose some; cut the end off "
          + "the file first")
    }
    do {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    } catch {
      throw RunFailure(store: error as NSError)
    }
    try OutputPath.check(partPath(1))
    try checkIsNew()
    do throws(CSVError) {
      return try split(isCancelled)
    } catch {
      throw RunFailure(error)
    }
  }

  /// The name of the input, without its endings, and a number.
  private func partPath(_ number: Int) -> String {
    let ending = stem.ending + (isCompressed ? ".gz" : "")
    return "\(folder)/\(stem.name)-\(String(format: "%06d", number))\(ending)"
  }

  private var stem: (name: String, ending: String) {
    var url = URL(fileURLWithPath: path)
    if ["gz", "zst", "xz", "bz2", "zip"].contains(url.pathExtension.lowercased()) { url.deletePathExtension() }
    let ending = url.pathExtension
    return (url.deletingPathExtension().lastPathComponent, ending.isEmpty ? "" : ".\(ending)")
  }

  private func checkIsNew() throws(RunFailure) {
    let names = try RunFailure.names(in: folder)
    guard let known = names.first(where: { $0.hasPrefix("\(stem.name)-") && $0.contains(stem.ending) }) else {
      return
    }
    throw RunFailure(
      code: nil, exitCode: .cannotCreate,
      message: "\(folder)/\(known) exists already; name an empty folder, or remove the earlier parts")
  }

  // MARK: Reading

  private func split(_ isCancelled: @escaping () -> Bool) throws(CSVError) -> [Part] {
    let text = try ReadText(of: try ByteSource(path: path, unless: isCancelled))
    let reader = try RecordOpener(definition: definition, path: path).open(text.source)
    if definition.dialect.header, let reader = reader as? CSVReader { _ = try reader.readHeader() }
    let header = text.take(upTo: reader.position.byteOffset)
    var parts: [Part] = []
    var part = try OpenPart(partPath(1), header, isCompressed: isCompressed)
    var block = RecordBlock()
    while try reader.next(into: &block, recordsMax: min(Self.blockRows, nextRows(part.records))) {
      if part.records == rowsMax {
        parts.append(try part.close())
        part = try OpenPart(partPath(parts.count + 1), header, isCompressed: isCompressed)
      }
      try part.write(text.take(upTo: block.end.byteOffset), records: block.records.count)
      if isCancelled() {
        throw CSVError(.source, "was not split to its end; remove the parts", path: path, errnoCode: ECANCELED)
      }
    }
    try part.write(text.take(upTo: reader.position.byteOffset), records: 0)
    parts.append(try part.close())
    return parts
  }

  /// The rest of a part, or the next part.
  private func nextRows(_ records: Int) -> Int { records == rowsMax ? rowsMax : rowsMax - records }
}

/// A part that is written.
private struct OpenPart {
  private let path: String
  private let sink: ByteSink
  private let hash = ContentHash()
  private(set) var records = 0

  init(_ path: String, _ header: [UInt8], isCompressed: Bool) throws(CSVError) {
    self.path = path
    sink = try ByteSink(path: path, compression: isCompressed ? .gzip : .none)
    sink.contentHash = hash
    try sink.write(header)
  }

  mutating func write(_ text: [UInt8], records count: Int) throws(CSVError) {
    try sink.write(text)
    records += count
  }

  func close() throws(CSVError) -> InputSplitter.Part {
    try sink.commit()
    return InputSplitter.Part(
      path: path, records: records, bytes: sink.writtenBytes, contentHash: hash.digest.hex)
  }
}
