import CExpat
import Foundation

/// Reads XML into a tree of elements with expat. Foundation's parser would load libxml2 and ICU, tens of megabytes, at
/// every start of a program that may never read a model file.
///
/// External entities are not fetched. Expat's own settings limit the expansion of internal ones to a hundred times the input
/// (https://libexpat.github.io/doc/api/latest/), and the text that is kept is limited here.
final class XMLTreeReader {
  private let parser: XML_Parser
  private var open: [XMLElementNode] = []
  private var root: XMLElementNode?
  private var isTooDeep = false
  /// How many bytes of text may still follow.
  private var textLeft = 0

  /// Elements that are nested deeper are refused; those of models are nested five deep.
  private static let depthMax = 64
  /// The text of a file is not longer than the file, except where another encoding has shorter characters than UTF-8, or
  /// entities of its own are expanded. No model editor writes such entities.
  private static let expansionMax = 3

  /// - Throws: `ModelFileError` with the line at which the data is not well-formed.
  static func read(_ data: Data, file: URL?) throws -> XMLElementNode {
    guard let parser = XML_ParserCreate(nil) else { throw CocoaError(.fileReadUnknown) }
    defer { XML_ParserFree(parser) }
    let reader = XMLTreeReader(parser)
    // The parser's callbacks run before this returns, while `reader` is alive.
    XML_SetUserData(parser, Unmanaged.passUnretained(reader).toOpaque())
    XML_SetElementHandler(
      parser,
      { reader, name, attributes in
        guard let reader, let name, let attributes else { return }
        Unmanaged<XMLTreeReader>.fromOpaque(reader).takeUnretainedValue().start(name, attributes)
      },
      { reader, _ in
        guard let reader else { return }
        Unmanaged<XMLTreeReader>.fromOpaque(reader).takeUnretainedValue().end()
      })
    XML_SetCharacterDataHandler(parser) { reader, text, count in
      guard let reader, let text else { return }
      Unmanaged<XMLTreeReader>.fromOpaque(reader).takeUnretainedValue().add(text, Int(count))
    }
    reader.textLeft = data.count * expansionMax
    let isWhole = withExtendedLifetime(reader) { reader.parse(data) }
    guard reader.textLeft >= 0 else {
      throw ModelFileError(
        file: file, line: max(1, reader.line),
        problem: "Its entities make its text more than \(expansionMax) times as long as the file.",
        advice: "Write the text in place of the entities, or export the file again from the model editor.")
    }
    guard !reader.isTooDeep else {
      throw ModelFileError(
        file: file, line: max(1, reader.line), problem: "Its elements are nested more than \(depthMax) deep.",
        advice: "Give the contents file of an .xcdatamodel.")
    }
    guard isWhole, let root = reader.root else {
      let reason = XML_ErrorString(XML_GetErrorCode(parser)).map { " (\(String(cString: $0)))" } ?? ""
      throw ModelFileError(
        file: file, line: max(1, reader.line), problem: "This is not well-formed XML\(reason).",
        advice: "Repair the file, or export it again from the model editor.")
    }
    return root
  }

  private init(_ parser: XML_Parser) { self.parser = parser }

  private var line: Int { Int(XML_GetCurrentLineNumber(parser)) }

  private func parse(_ data: Data) -> Bool {
    data.withUnsafeBytes { bytes in
      // Expat counts in 32 bits. The 1 marks the last part.
      guard let count = Int32(exactly: bytes.count) else { return false }
      let start = bytes.assumingMemoryBound(to: CChar.self).baseAddress
      return XML_Parse(parser, start, count, 1) == XML_STATUS_OK
    }
  }

  /// `attributes` alternates names and values and ends with nil.
  private func start(_ name: UnsafePointer<CChar>, _ attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>) {
    guard open.count < Self.depthMax else {
      isTooDeep = true
      _ = XML_StopParser(parser, XML_Bool(XML_FALSE))
      return
    }
    var values: [String: String] = [:]
    var next = attributes
    while let key = next[0], let value = next[1] {
      guard takes(strlen(value)) else { return }
      values[String(cString: key)] = String(cString: value)
      next += 2
    }
    open.append(XMLElementNode(name: String(cString: name), attributes: values, line: line))
  }

  /// The parser gives the text of an element in parts, each of whole characters.
  private func add(_ text: UnsafePointer<CChar>, _ count: Int) {
    guard !open.isEmpty, takes(count) else { return }
    text.withMemoryRebound(to: UInt8.self, capacity: count) {
      open[open.count - 1].content += String(decoding: UnsafeBufferPointer(start: $0, count: count), as: UTF8.self)
    }
  }

  private func takes(_ count: Int) -> Bool {
    textLeft -= count
    if textLeft < 0 { _ = XML_StopParser(parser, XML_Bool(XML_FALSE)) }
    return textLeft >= 0
  }

  private func end() {
    guard let closed = open.popLast() else { return }
    if open.isEmpty { root = closed } else { open[open.count - 1].children.append(closed) }
  }
}
