import Foundation
import SystemSupport

/// A pipeline definition that cannot be used, with all its mistakes.
public struct PipelineError: Error, Sendable, Equatable {
  /// One mistake and its source location.
  public struct Mistake: Sendable, Hashable, Codable {
    /// Key path within the definition, such as `columns[2].formats[0]`; empty for the document as a whole.
    public var path: String
    /// The file that contains the mistake, if it is not the definition's own but one that it extends.
    public var file: String?
    /// Line in the file, from 1; `nil` if the definition was not read from text.
    public var line: Int?
    /// Column in the line in characters, from 1; `nil` if the definition was not read from text.
    public var column: Int?
    /// What is wrong and what to do about it.
    public var message: String

    /// Makes a mistake. The parameters are the properties of the same names.
    public init(path: String, file: String? = nil, line: Int? = nil, column: Int? = nil, message: String) {
      self.path = path
      self.file = file
      self.line = line
      self.column = column
      self.message = message
    }
  }

  /// `pipeline-error`, or `source-error` when the definition's file could not be read at all.
  public var code: IssueCode
  /// The definition's file, if there is one.
  public var file: String?
  /// At least one mistake, in the order of the document.
  public var mistakes: [Mistake]
  /// Whether the disk failed while a file was read, so that the definition may be right.
  package var isOfDisk = false

  /// Makes an error with several mistakes. The parameters are the properties of the same names.
  public init(code: IssueCode = .pipelineError, file: String? = nil, mistakes: [Mistake]) {
    self.code = code
    self.file = file
    self.mistakes = mistakes
  }

  /// Makes an error with one mistake.
  ///
  /// - Parameters:
  ///   - code: The issue code.
  ///   - path: The key path of what is wrong; empty for the definition as a whole.
  ///   - message: What is wrong and what to do about it.
  public init(code: IssueCode = .pipelineError, path: String = "", _ message: String) {
    self.init(code: code, mistakes: [Mistake(path: path, message: message)])
  }

  /// Message of the first mistake.
  public var message: String { mistakes.first?.message ?? "" }
  /// Key path of the first mistake.
  public var path: String { mistakes.first?.path ?? "" }
  /// 74 when the disk failed, 66 when the file could not be read for another reason, otherwise 78.
  public var exitCode: ExitCode {
    if isOfDisk { return .ioError }
    return code == .sourceError ? .noInput : .configuration
  }
}

extension PipelineError {
  /// A file of a definition that can't be read.
  static func reading(_ file: URL, _ cause: NSError) -> PipelineError {
    var error = PipelineError(code: .sourceError, "cannot read the pipeline: \(cause.reasonWithAdvice)")
    error.file = file.relativePath
    error.isOfDisk = cause.isOfDisk
    return error
  }
}

extension NSError {
  /// Why a file can't be read, and what to do about it.
  var reasonWithAdvice: String { "\(reason); check \(isOfDisk ? "the disk" : "the path and its permissions")" }
}

extension PipelineError: CustomStringConvertible {
  /// One line per mistake: `file:line:column: key path: message`.
  public var description: String { lines.joined(separator: "\n") }

  package var lines: [String] { mistakes.map { $0.line(in: file) } }
}

extension PipelineError.Mistake {
  /// `file:line:column: key path: message`, `definition` being the file of the definition.
  package func line(in definition: String?) -> String {
    if file ?? definition == nil, line == nil, path.isEmpty { return message }
    var location = file ?? definition ?? "pipeline"
    if let line { location += ":\(line)" }
    if let column { location += ":\(column)" }
    return "\(location): " + (path.isEmpty ? "" : "\(path): ") + message
  }
}
