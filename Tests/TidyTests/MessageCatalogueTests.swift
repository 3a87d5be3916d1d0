import Foundation
import Testing

/// The catalogue of all messages, by module and file, which `make messages` writes to be read in one sitting.
@Suite struct MessageCatalogueTests {
  private static let messages = Repository.files.filter { $0.isSwift && $0.lies(in: "Sources") }
    .flatMap(MessageScan.messages)

  @Test func `The catalogue has the messages of every module, each once for a place`() throws {
    let text = Self.catalogue(of: Self.messages)
    for module in ["CSV", "PipelineDefinition", "PipelineEngine", "SurfJournal", "surfjournal", "PersistentStores"] {
      #expect(text.contains("\n## \(module)\n"))
    }
    #expect(Self.messages.count > 1500)
    #expect(text.contains("no store is given; name one with --store PATH"))
    if let path = ProcessInfo.processInfo.environment["SURFJOURNAL_MESSAGES"] {
      try text.write(toFile: path, atomically: true, encoding: .utf8)
    }
  }

  static func catalogue(of messages: [Message]) -> String {
    var text = "# Messages\n\nWhat the program and its libraries say, by module and file. … is a value.\n"
    var (module, file) = ("", "")
    for message in messages {
      let parts = message.path.split(separator: "/").map(String.init)
      if parts[1] != module { text += "\n## \(parts[1])\n" }
      if message.path != file { text += "\n### \(parts.dropFirst(2).joined(separator: "/"))\n\n" }
      (module, file) = (parts[1], message.path)
      text += "- \(message.line): \(message.text.trimmingCharacters(in: .whitespaces))\n"
    }
    return text
  }

  @Test func `A message has its joined parts, and a mark for each value`() {
    let file = SourceFile(
      path: "Sources/CSV/A.swift",
      text: ##"""
        // "not a message at all, only a comment"
        throw mistake("the file \(name ?? "of no name") has no header; "
          + "add \"one\" to it")
        let b = #"a raw \(text) stays as it is, with \#(value)"#
        """##)
    let found = MessageScan.messages(of: file)
    #expect(found.map(\.line) == [2, 4])
    #expect(found.map(\.call) == ["mistake", ""])
    #expect(found.map(\.text).first == "the file … has no header; add \"one\" to it")
    #expect(found.map(\.text).last == "a raw \\(text) stays as it is, with …")
  }
}
