/// An error of reading, decompressing, parsing or writing.
///
/// Positions are given wherever they are known. `byte` counts in the text itself, in the bytes of its encoding (for
/// compressed files: in the decompressed text), `compressedByte` in the compressed file; both start at 0. `line` starts at 1.
public struct CSVError: Error, Sendable, Hashable {
  /// The kind of error. Later versions may add codes, so a `switch` needs a default.
  ///
  /// Where the Frictionless Data specification has a code for the case, the text is that code.
  public struct Code: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public var description: String { rawValue }

    /// The input could not be opened, read or positioned.
    public static let source = Code(rawValue: "source-error")
    /// The encoding of the input must be declared, or is unknown.
    public static let encoding = Code(rawValue: "encoding-error")
    /// The input is not text: a workbook, a database, an archive of several files.
    public static let format = Code(rawValue: "format-error")
    /// The compressed data is truncated or damaged, or other data follows it.
    public static let compression = Code(rawValue: "compression-error")
    /// The dialect or the limits contradict themselves.
    public static let dialect = Code(rawValue: "dialect-error")
    /// The output could not be opened, written or renamed to its final path.
    public static let write = Code(rawValue: "write-error")
    /// A value cannot be written in a dialect that has no quotes.
    public static let unquotableValue = Code(rawValue: "unquotable-value")
  }

  /// Identifies the kind of error.
  public var code: Code
  /// What is wrong and what to do about it, as a sentence without a position.
  public var message: String
  /// The file concerned; "stdin", "stdout" or "memory" where there is none.
  public var path: String?
  /// The line (from 1) of the record concerned; nil where the error concerns no record.
  public var line: Int?
  /// Offset (from 0) in the decompressed input; nil where it is unknown.
  public var byte: Int?
  /// Offset (from 0) in the compressed input; nil where it is not compressed or unknown.
  public var compressedByte: Int?
  /// Index (from 0) of the field concerned, for `unquotableValue`.
  public var field: Int?
  /// The system's error number, where a system call failed; `missingLibrary` where a library is not installed.
  public var errnoCode: Int32?

  /// ELIBACC of Linux: a shared library can't be accessed.
  package static let missingLibrary: Int32 = 79

  /// Makes an error. The parameters are the properties of the same names.
  public init(
    _ code: Code, _ message: String, path: String? = nil, line: Int? = nil, byte: Int? = nil,
    compressedByte: Int? = nil, field: Int? = nil, errnoCode: Int32? = nil
  ) {
    self.code = code
    self.message = message
    self.path = path
    self.line = line
    self.byte = byte
    self.compressedByte = compressedByte
    self.field = field
    self.errnoCode = errnoCode
  }
}

extension CSVError: CustomStringConvertible {
  /// `path, line 3, byte 120: message [code]`.
  public var description: String {
    var location: [String] = []
    if let path { location.append(path) }
    if let line { location.append("line \(line)") }
    if let field { location.append("field \(field + 1)") }
    if let byte { location.append(compressedByte == nil ? "byte \(byte)" : "byte \(byte) of the text") }
    if let compressedByte { location.append("byte \(compressedByte) of the compressed file") }
    let head = location.isEmpty ? "" : location.joined(separator: ", ") + ": "
    return "\(head)\(message) [\(code)]"
  }
}
