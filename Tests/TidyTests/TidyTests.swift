import Foundation
import Testing

/// The project's rules that a machine can see, over every file of the repository.
@Suite struct TidyTests {
  @Test(arguments: Rule.all)
  func `The repository keeps its rules`(_ rule: Rule) {
    let breaches = rule.breaches(in: Repository.files)
    #expect(breaches.isEmpty, "\(rule.testDescription): \(breaches.joined(separator: ", "))")
  }

  @Test func `The median source file is shorter than 150 lines`() {
    let lengths = Repository.files.filter { $0.isSwift && $0.lies(in: "Sources") }.map(\.lines.count)
    #expect(Self.median(lengths) < 150)
  }

  @Test func `Every folder of Sources is in the table of modules, and the other way round`() throws {
    let sources = Repository.root.appending(path: "Sources")
    let folders = try FileManager.default.contentsOfDirectory(
      at: sources, includingPropertiesForKeys: nil, options: .skipsHiddenFiles)
    #expect(Set(folders.map(\.lastPathComponent)) == Set(ModuleTable.imports.keys))
  }

  @Test func `Each callback that needs no labels exists`() {
    #expect(Rule.staleCallbacks(in: Repository.files).isEmpty)
    #expect(Rule.staleCallbacks(in: []).count == Rule.unlabelledCallbacks.values.map(\.count).reduce(0, +))
  }

  @Test func `Every import of the table is in the sources`() {
    for (module, imports) in ModuleTable.imports {
      let lines = Repository.files.filter { $0.isSwift && $0.module == module }.lazy.flatMap(\.code)
      let unused = imports.subtracting(lines.compactMap(ModuleTable.importedModule))
      #expect(unused.isEmpty, "\(module) does not import \(unused)")
    }
  }

  @Test func `Arrows point down only`() {
    func below(_ module: String) -> Set<String> {
      let direct = ModuleTable.imports[module] ?? []
      return direct.union(direct.flatMap { below($0) })
    }
    for module in ModuleTable.imports.keys {
      #expect(!below(module).contains(module), "\(module) is below itself")
    }
    #expect(!below("OpenCoreData").contains("CSV"))
    #expect(!below("CSV").contains("OpenCoreData"))
  }

  static func median(_ numbers: [Int]) -> Int {
    numbers.isEmpty ? 0 : numbers.sorted()[numbers.count / 2]
  }
}

/// The checks can fail: each finds what was made up to break it, and only that.
@Suite struct TidyCanaryTests {
  @Test(arguments: Rule.all)
  func `A rule finds each of its canaries, at its line`(_ rule: Rule) {
    #expect(!rule.canaries.isEmpty)
    for canary in rule.canaries {
      let file = SourceFile(path: rule.path, text: canary.text)
      #expect(rule.breaches(in: [file]) == ["\(rule.path):\(canary.line)"], "\(canary.text)")
    }
  }

  @Test(arguments: Rule.all)
  func `A rule lets pass what only looks like a breach`(_ rule: Rule) {
    for text in rule.permitted {
      #expect(rule.breaches(in: [SourceFile(path: rule.path, text: text)]).isEmpty, "\(text)")
    }
  }

  @Test func `A rule leaves alone what it does not cover`() {
    let pointer = SourceFile(path: "Sources/CSV/Parser/A.swift", text: "let a: UnsafeRawPointer")
    #expect(Rule.unsafePointers.breaches(in: [pointer]).isEmpty)
    let test = SourceFile(path: "Tests/CSVTests/A.swift", text: "let a = try! b()")
    #expect(Rule.traps.breaches(in: [test]).isEmpty)
  }

  @Test func `The files of the repository are found`() {
    let paths = Repository.files.map(\.path)
    #expect(paths.contains("Package.swift"))
    #expect(paths.contains("Tests/TidyTests/TidyTests.swift"))
    #expect(Set(Repository.files.compactMap(\.module)).count > 3)
  }

  @Test func `The median of an even count is the upper of the two in the middle`() {
    #expect(TidyTests.median([400, 10, 20, 30]) == 30)
    #expect(TidyTests.median([]) == 0)
  }

  struct MaskCase: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let source: String
    let code: String
  }

  static let maskCases = [
    MaskCase(testDescription: "a line comment", source: "a // b\nc", code: "a     \nc"),
    MaskCase(testDescription: "a nested block comment", source: "a/*/*b*/c*/d", code: "a          d"),
    MaskCase(testDescription: "a comment over lines", source: "/*\na*/b", code: "  \n   b"),
    MaskCase(testDescription: "a string", source: #"a("b // c")d"#, code: #"a("      ")d"#),
    MaskCase(testDescription: "an escaped quote", source: #"a "\"" b"#, code: #"a "  " b"#),
    MaskCase(
      testDescription: "an interpolation with a string in it", source: #""x\(a(b ?? "y"))z" + c"#,
      code: #"" \(a(b ?? " ")) " + c"#),
    MaskCase(testDescription: "a raw string", source: ##"#"a" \(b) "# + c"##, code: ##"#"        "# + c"##),
    MaskCase(
      testDescription: "a string of several lines", source: "\"\"\"\na \"b\"\n\"\"\" + c",
      code: "\"\"\"\n     \n\"\"\" + c"),
  ]

  @Test(arguments: maskCases)
  func `Only code is left of a Swift text`(_ test: MaskCase) {
    #expect(SwiftMask.code(of: test.source) == test.code)
  }
}
