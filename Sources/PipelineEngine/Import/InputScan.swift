import CSV
import SystemSupport

/// Reads an input without importing it, for what has to be known of its records before.
struct InputScan {
  private let environment: ImportEnvironment
  private let file: InputFile

  init(_ environment: ImportEnvironment, _ file: InputFile) {
    self.environment = environment
    self.file = file
  }

  /// Calls `body` with the chunks of the input from its start, until it returns false.
  ///
  /// What is wrong with the input ends the scan without an error: reading it for the import reports that. A read that the
  /// system refuses is an error, because the next one may succeed, and the records would count as compared.
  ///
  /// - Parameters:
  ///   - digester: What is digested of the records; by default what the pipeline compares.
  ///   - opened: Called when the header is known, before the first chunk.
  func run(
    digester: (@Sendable (HeaderMapping) -> RowDigester)? = nil,
    opened: (HeaderMapping) throws -> Void = { _ in }, _ body: (ParsedChunk) throws -> Bool
  ) throws(RunFailure) {
    let reading = environment.reader(of: file, KnownInputs(), digester: digester).start()
    defer { reading.end() }
    do {
      while !environment.monitor.isCancelled(), let message = reading.messages.receive() {
        switch message {
        case .opened(let input):
          guard input.isUsable else { return }
          try opened(input.mapping)
        case .chunk(let parsed):
          guard let chunk = parsed.receive(), try body(chunk) else { return }
        case .surveyed(let result):
          if result.refusal != nil { return }
        case .failure(let error):
          if error.code == .source { throw RunFailure(error) }
          return
        case .end: return
        case .recognized: continue
        }
      }
    } catch {
      throw error as? RunFailure ?? RunFailure(saving: error)
    }
  }
}
