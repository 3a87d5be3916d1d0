import Foundation
import TestSupport
import Testing

/// What `make install` puts in place, and what newcomers do with it.
@Suite struct InstallationTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private func install(_ arguments: String...) throws { try Self.install(arguments, in: folder) }

  private static func install(_ arguments: [String] = [], in folder: TemporaryFolder) throws {
    let output = try Programs.run(
      Repository.path("Packaging/install"), arguments + [Tool.url.path, folder.path("root"), "/usr"], in: folder,
      environment: ["SOURCE_DATE_EPOCH": "1795305600"])
    try #require(output.status == 0, "\(output.messages)")
  }

  /// What is installed once, for the tests that do not change it.
  private static let shared: Result<TemporaryFolder, any Error> = Result {
    let folder = try TemporaryFolder()
    try install(in: folder)
    atexit { try? FileManager.default.removeItem(at: InstallationTests.shared.get().url) }
    return folder
  }

  /// The paths of the files below the folder `root`.
  private var installed: [String] {
    let root = folder.path("root")
    let paths = FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? []
    var isFolder: ObjCBool = false
    return paths.filter {
      FileManager.default.fileExists(atPath: "\(root)/\($0)", isDirectory: &isFolder) && !isFolder.boolValue
    }
    .sorted()
  }

  @Test func `The program, a page for each command, completions, pipelines and examples, and away again`() throws {
    try folder.makeFolder("root/usr/bin")
    try folder.write("other", to: "root/usr/bin/other")
    try install()
    let files = installed
    #expect(files.contains("usr/bin/surfjournal"))
    for command in HelpTests.commands { #expect(files.contains("usr/share/man/man1/surfjournal-\(command).1")) }
    for file in [
      "man/man1/surfjournal.1", "man/man5/surfjournal-pipeline.5", "bash-completion/completions/surfjournal",
      "zsh/site-functions/_surfjournal", "fish/vendor_completions.d/surfjournal.fish",
      "surfjournal/Pipelines/nightly-inbox.json", "doc/surfjournal/examples/surftagebuch.csv",
      "doc/surfjournal/examples/surfjournal.service", "doc/surfjournal/LICENSE",
      "surfjournal/Pipelines/Surfing.xcdatamodeld/Surfing.xcdatamodel/contents",
      "doc/surfjournal/examples/Surfing.xcdatamodeld/.xccurrentversion", "doc/surfjournal/examples/sessions.csv",
    ] {
      #expect(files.contains("usr/share/\(file)"))
    }
    let first = try Programs.output(of: ["sh", "-c", "find root -type f | sort | xargs sha256sum"], in: folder)
    try install()
    #expect(try Programs.output(of: ["sh", "-c", "find root -type f | sort | xargs sha256sum"], in: folder) == first)
    try install("--remove")
    #expect(installed == ["usr/bin/other"])
  }

  @Test func `A relative root is one of the folder that it is given in`() throws {
    let output = try Programs.run(Repository.path("Packaging/install"), [Tool.url.path, "out", "usr"], in: folder)
    #expect(output.status == 0)
    #expect(folder.exists("out/usr/bin/surfjournal"))
  }

  @Test func `The installed program finds the pipelines that are installed with it`() throws {
    let output = try Programs.run(try Self.shared.get().path("root/usr/bin/surfjournal"), ["pipelines"], in: folder)
    #expect(output.status == 0)
    #expect(output.text.contains("nightly-inbox"))
  }

  @Test func `The manual's pages have every option, and no page has a mistake of form`() throws {
    let pages = try Self.shared.get().path("root/usr/share/man")
    for command in HelpTests.commands {
      let page = "\(pages)/man1/surfjournal-\(command).1"
      let shown = try Programs.run(
        "/usr/bin/env", ["LC_ALL=C.UTF-8", "groff", "-man", "-Tascii", "-ww", "-P-c", "-P-b", "-P-u", page], in: folder)
      #expect(shown.messages.isEmpty, "\(shown.messages)")
      let text = shown.text.replacingOccurrences(of: "\n", with: " ")
      for option in try Tool.run("help", command, in: folder).text.matches(of: /--[a-z][a-z-]+/) {
        #expect(text.contains(option.0), "\(command): \(option.0)")
      }
    }
    let pipeline = try Programs.run(
      "/usr/bin/env",
      ["groff", "-man", "-Tascii", "-ww", "-P-c", "-P-b", "-P-u", "\(pages)/man5/surfjournal-pipeline.5"])
    #expect(pipeline.messages.isEmpty)
    let schema = try JSONSerialization.jsonObject(
      with: Data(contentsOf: Repository.file("Pipelines/pipeline.schema.json")))
    let keys = ((schema as? [String: Any])?["properties"] as? [String: Any])?.keys.sorted() ?? []
    #expect(keys.count > 20)
    for key in keys { #expect(pipeline.text.contains("       \(key)"), "\(key)") }
  }

  @Test(arguments: ["spreadsheet", "nightly", "app"])
  func `A newcomer's first hour works from the installed files`(_ script: String) throws {
    let path = "\(try Self.shared.get().path("root/usr/bin")):/usr/bin:/bin"
    let home = ["PATH=\(path)", "HOME=\(folder.url.path)", "TMPDIR=\(folder.url.path)"]
    let command = ["sh", Repository.path("Tests/Newcomers/\(script).sh")]
    let output = try Programs.run("/usr/bin/env", EmptyEnvironment.arguments(home) + command, in: folder)
    #expect(output.status == 0, "\(output.text)\(output.messages)")
  }
}
