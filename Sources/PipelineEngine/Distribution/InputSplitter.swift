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
    let input = try open(isCancelled)
    // The input can be read: only now is a folder of use.
    try makeFolder()
    try OutputPath.check(input.names[1])
    try checkIsNew(input.names)
    do throws(CSVError) {
      return try split(input, isCancelled)
    } catch {
      var error = error
      if error.code == .source, input.text.isFull { error.line = input.reader.position.line }
      throw RunFailure(error)
    }
  }

  // MARK: The parts

  /// What parts are called: as the input without its endings, a number, and an ending that says the format.
  private struct PartNames {
    let folder: String
    let stem: String
    let ending: String

    subscript(number: Int) -> String { "\(folder)/\(stem)-\(String(format: "%06d", number))\(ending)" }
  }

  private func partNames(isJSONLines: Bool) -> PartNames {
    var url = URL(fileURLWithPath: path == "-" ? "stdin" : path)
    if ["gz", "zst", "xz", "bz2", "zip"].contains(url.pathExtension.lowercased()) { url.deletePathExtension() }
    let hasEnding = !FileEnding(path: url.path).text.isEmpty
    let ending = hasEnding ? url.pathExtension : isJSONLines ? "jsonl" : "csv"
    if hasEnding { url.deletePathExtension() }
    return PartNames(folder: folder, stem: url.lastPathComponent, ending: ".\(ending)\(isCompressed ? ".gz" : "")")
  }

  private func makeFolder() throws(RunFailure) {
    if let type = try RunFailure.status(of: folder)?.type, type != S_IFDIR {
      throw RunFailure(
        code: nil, exitCode: .cannotCreate, message: "\(folder) is not a folder; name a folder for the parts")
    }
    do {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    } catch {
      let error = error as NSError
      throw RunFailure(
        code: nil, exitCode: RunFailure(store: error).exitCode,
        message: "the folder \(folder) can't be made: \(error.reason); check the path")
    }
  }

  private func checkIsNew(_ names: PartNames) throws(RunFailure) {
    // A split that was killed has left the part that it wrote under a temporary name.
    OutputFile.removeLeftovers(besides: names[1]) { $0.hasPrefix("\(names.stem)-") && $0.hasSuffix(names.ending) }
    let listed = try RunFailure.names(in: folder)
    guard let known = listed.first(where: { $0.hasPrefix("\(names.stem)-") && $0.contains(names.ending) }) else {
      return
    }
    throw RunFailure(
      code: nil, exitCode: .cannotCreate,
      message: "\(folder)/\(known) exists already; name an empty folder, or remove the earlier parts")
  }

  // MARK: Reading

  /// An input whose header was read.
  private struct OpenInput {
    let text: ReadText
    let reader: any RecordReader
    let names: PartNames
  }

  /// - Throws: Also where the header does not match the pipeline: a file with another delimiter would be cut within
  ///   quotation marks.
  private func open(_ isCancelled: @escaping () -> Bool) throws(RunFailure) -> OpenInput {
    let input: OpenInput
    var opened: InputReader.Opened?
    do throws(CSVError) {
      let text = try ReadText(of: try ByteSource(path: path, unless: isCancelled), bytesMax: textBytesMax)
      let reader = try RecordOpener(definition: definition, path: path).open(text.source)
      if let reader = reader as? CSVReader {
        opened = try InputReader.open(
          reader, by: definition, columns: definition.columns, input: path, totalBytes: nil)
      }
      input = OpenInput(text: text, reader: reader, names: partNames(isJSONLines: !(reader is CSVReader)))
    } catch {
      throw RunFailure(error)
    }
    if let fault = opened?.issues.first(where: { $0.severity == .error }) {
      let file = ShellWord.quoted(path == "-" ? "FILE" : path)
      throw ImportFailures.refusal(
        of: path, fault,
        advice: ". Name the pipeline that reads the file, such as --pipeline ./pipeline.json; "
          + "'\(definition.vocabulary.program) guess \(file) -o pipeline.json' writes one")
    }
    return input
  }

  private func split(_ input: OpenInput, _ isCancelled: @escaping () -> Bool) throws(CSVError) -> [Part] {
    let (text, reader, names) = (input.text, input.reader, input.names)
    let header = text.take(upTo: reader.position.byteOffset)
    var parts: [Part] = []
    var part = try OpenPart(names[1], header, isCompressed: isCompressed)
    var block = RecordBlock()
    while try reader.next(into: &block, recordsMax: min(Self.blockRows, nextRows(part.records))) {
      try checkLengths(of: block)
      if part.records == rowsMax {
        parts.append(try part.close())
        part = try OpenPart(names[parts.count + 1], header, isCompressed: isCompressed)
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

  /// How much text may wait for the end of a record: a block and one more record, in an encoding with four bytes for each
  /// character, and 1 MiB that the reader has read ahead.
  private var textBytesMax: Int {
    let limits = definition.limits.csv
    return 4 * (limits.blockBytesMax + limits.recordBytesMax) + 1 << 20
  }

  /// Refuses a record that is too long to be kept in memory.
  private func checkLengths(of block: RecordBlock) throws(CSVError) {
    guard let long = block.records.first(where: { $0.problems.contains(.recordTooLong) }) else { return }
    throw CSVError(
      .source,
      "the record is longer than limits.recordBytesMax, \(definition.limits.recordBytesMax) bytes; a quote that is never "
        + "closed is a common cause. Correct it or raise the limit, remove the parts that were written, and split again",
      path: path, line: long.line)
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
