import CExpat
import Foundation

/// Reads XML into a tree of elements, by expat. Not by Foundation's parser: that one brings libxml2 and ICU with their
/// tens of megabytes into every start of a program that may never read a model file.
///
/// Entities outside of the file are not fetched, and those inside are kept from growing without bound, by expat's own
/// settings (https://libexpat.github.io/doc/api/latest/).
final class XMLTreeReader {
  private let parser: XML_Parser
  private var open: [XMLElementNode] = []
  private var root: XMLElementNode?

  /// - Throws: `ModelFileError` with the line at which the data stops being well-formed.
  static func read(_ data: Data, file: URL?) throws -> XMLElementNode {
    guard let parser = XML_ParserCreate(nil) else { throw CocoaError(.fileReadUnknown) }
    defer { XML_ParserFree(parser) }
    let reader = XMLTreeReader(parser)
    // The parser calls back before this returns, while `reader` lives.
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
    let isWhole = withExtendedLifetime(reader) { reader.parse(data) }
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
      // Expat counts in 32 bits. The 1 says that no more comes.
      guard let count = Int32(exactly: bytes.count) else { return false }
      let start = bytes.assumingMemoryBound(to: CChar.self).baseAddress
      return XML_Parse(parser, start, count, 1) == XML_STATUS_OK
    }
  }

  /// `attributes` are names and values in turn, with nil behind the last.
  private func start(_ name: UnsafePointer<CChar>, _ attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>) {
    var values: [String: String] = [:]
    var next = attributes
    while let key = next[0], let value = next[1] {
      values[String(cString: key)] = String(cString: value)
      next += 2
    }
    open.append(XMLElementNode(name: String(cString: name), attributes: values, line: line))
  }

  private func end() {
    guard let closed = open.popLast() else { return }
    if open.isEmpty { root = closed } else { open[open.count - 1].children.append(closed) }
  }
}
