import Testing

/// The folders of a module have an order, and the code keeps to it.
@Suite struct FolderTests {
  @Test(arguments: FolderTable.arrows.keys.sorted())
  func `A module's folders use what the table says, and no others`(_ module: String) throws {
    let table = try #require(FolderTable.arrows[module])
    let differences = Self.differences(FolderScan(module: module, files: Repository.files), table)
    #expect(differences.isEmpty, "\(module): \(differences.joined(separator: "; "))")
  }

  @Test(arguments: FolderTable.arrows.keys.sorted())
  func `No folder uses itself by way of others, but for the one circle that is declared`(_ module: String) throws {
    let table = try #require(FolderTable.arrows[module])
    let arrows = module == FolderTable.circle.module ? table.removing(FolderTable.circle.arrow) : table
    #expect(arrows.nodesInCircles == [])
  }

  @Test func `The declared circle exists, and has two folders`() throws {
    let table = try #require(FolderTable.arrows[FolderTable.circle.module])
    #expect(table.nodesInCircles == [FolderTable.circle.arrow.from, FolderTable.circle.arrow.to].sorted())
  }

  @Test func `Every module of the table has sources`() {
    #expect(Set(FolderTable.arrows.keys).isSubset(of: Set(Repository.files.compactMap(\.module))))
  }

  @Test func `Every module with folders is in the table`() {
    #expect(Self.missingModules(Repository.files, FolderTable.arrows) == [])
  }

  static func missingModules(_ files: [SourceFile], _ table: [String: [String: Set<String>]]) -> [String] {
    FolderScan.modulesWithFolders(files).subtracting(table.keys).sorted()
  }

  /// What the sources have and the table lacks, and the other way round.
  static func differences(_ scan: FolderScan, _ table: [String: Set<String>]) -> [String] {
    let folders = Set(scan.arrows.keys).union(table.keys).sorted()
    return folders.flatMap { folder -> [String] in
      guard let used = scan.arrows[folder] else { return ["\(folder) is in the table and not in the sources"] }
      guard let allowed = table[folder] else { return ["\(folder) is in the sources and not in the table"] }
      let new = used.subtracting(allowed).sorted().map { other in
        let example = scan.examples[FolderScan.Arrow(from: folder, to: other)] ?? ""
        return "\(folder) uses \(other), which the table does not allow (\(example))"
      }
      let gone = allowed.subtracting(used).sorted().map { "\(folder) uses \($0) no more; remove it from the table" }
      return new + gone
    }
  }
}

/// The scan can fail.
@Suite struct FolderCanaryTests {
  /// Ground is used by Roof.
  private static let sound = [
    ("Sources/M/Ground/A.swift", "struct A {\n  struct Inner {}\n}\n"),
    ("Sources/M/Roof/B.swift", "/// Not Roof2's C.\nfinal class B {\n  let a: A\n}\n"),
    ("Sources/M/Main.swift", "print(B())\n"),
    ("Sources/Other/Ground/C.swift", "struct C { let b: B }\n"),
  ]
  private static let table: [String: Set<String>] = ["Ground": [], "Roof": ["Ground"], ".": ["Roof"]]

  private static func differences(_ more: [(String, String)] = []) -> [String] {
    let files = (sound + more).map { SourceFile(path: $0.0, text: $0.1) }
    return FolderTests.differences(FolderScan(module: "M", files: files), table)
  }

  @Test func `Folders that keep to the table are let pass`() {
    #expect(Self.differences().isEmpty)
  }

  @Test func `An arrow up is found, with the file and the type`() {
    #expect(
      Self.differences([("Sources/M/Ground/D.swift", "extension A {\n  func b() -> [B] { [] }\n}\n")]) == [
        "Ground uses Roof, which the table does not allow (Sources/M/Ground/D.swift names B)"
      ])
  }

  @Test func `A member that a folder above adds to a type is found, with its name`() {
    let roof = ("Sources/M/Roof/A+More.swift", "extension A {\n  var height: Int { 1 }\n}\nlet width = 2\n")
    let uses = [
      "func f(_ a: A) { a.height }", "let area = width * 2", "extension A { var twice: Int { 2 * height } }",
    ]
    for use in uses {
      let member = use.contains("width") ? "width" : "height"
      #expect(
        Self.differences([roof, ("Sources/M/Ground/D.swift", use)]) == [
          "Ground uses Roof, which the table does not allow (Sources/M/Ground/D.swift names \(member))"
        ], "\(use)")
    }
  }

  @Test func `A type's own member, a private one, one that is declared twice and a label are no arrows`() {
    let use = ("Sources/M/Ground/D.swift", "func f(_ a: A) { a.height }\n")
    for text in [
      "private extension A {\n  var height: Int { 1 }\n}\n", "struct Roof {\n  var height: Int\n}\n",
      "extension B {\n  var height: Int { 1 }\n}\n", "extension A {\n  private var height: Int { 1 }\n}\n",
      "extension A {\n  var height: Int { 1 }\n}\nfunc g() { let height = 1 }\n",
    ] {
      #expect(Self.differences([("Sources/M/Roof/A+More.swift", text), use]).isEmpty, "\(text)")
    }
    let roof = ("Sources/M/Roof/A+More.swift", "extension A {\n  var height: Int { 1 }\n}\n")
    #expect(Self.differences([roof, ("Sources/M/Ground/D.swift", "func f(height: Int) -> Int { height }\n")]).isEmpty)
  }

  @Test func `A name in a comment or a text is not an arrow, one in an interpolation is`() {
    let quiet = ("Sources/M/Ground/D.swift", "// B\nlet text = \"B\"\n")
    #expect(Self.differences([quiet]).isEmpty)
    let loud = ("Sources/M/Ground/D.swift", "let text = \"\\(B.self)\"\n")
    #expect(Self.differences([loud]).count == 1)
  }

  @Test func `A nested type and one that is declared twice belong to no folder`() {
    #expect(Self.differences([("Sources/M/Ground/D.swift", "struct E { struct B {} }\n")]).isEmpty)
    #expect(Self.differences([("Sources/M/Roof/Inner.swift", "let inner: Inner\n")]).isEmpty)
    #expect(
      Self.differences([("Sources/M/Ground/B.swift", "private struct B {}\n")]) == [
        ". uses Roof no more; remove it from the table"
      ])
  }

  @Test func `An arrow that is gone and a folder that is new are found`() {
    let files = [SourceFile(path: "Sources/M/Cellar/A.swift", text: "struct A {}\n")]
    #expect(
      FolderTests.differences(FolderScan(module: "M", files: files), ["Cellar": ["Ground"]]) == [
        "Cellar uses Ground no more; remove it from the table"
      ])
    #expect(
      FolderTests.differences(FolderScan(module: "M", files: files), [:]) == [
        "Cellar is in the sources and not in the table"
      ])
    #expect(
      FolderTests.differences(FolderScan(module: "M", files: []), ["Ground": []]) == [
        "Ground is in the table and not in the sources"
      ])
  }

  @Test func `A sub-folder is a folder of its own, and its circle with the folder above is found`() {
    let files = [
      SourceFile(path: "Sources/M/Ground/A.swift", text: "struct A { let b: B }\n"),
      SourceFile(path: "Sources/M/Ground/Cellar/B.swift", text: "struct B { let a: A? }\n"),
    ]
    let arrows = FolderScan(module: "M", files: files).arrows
    #expect(arrows == ["Ground": ["Ground/Cellar"], "Ground/Cellar": ["Ground"]])
    #expect(arrows.nodesInCircles == ["Ground", "Ground/Cellar"])
    #expect(FolderTests.differences(FolderScan(module: "M", files: files), ["Ground": []]).count == 2)
  }

  @Test func `A second circle is found in spite of the one that is declared`() {
    let two: [String: Set<String>] = ["A": ["B"], "B": ["A"], "C": ["D"], "D": ["C"]]
    #expect(two.removing(.init(from: "A", to: "B")).nodesInCircles == ["C", "D"])
    let around: [String: Set<String>] = ["A": ["B", "C"], "B": ["A"], "C": ["A"]]
    #expect(around.removing(.init(from: "A", to: "B")).nodesInCircles == ["A", "C"])
  }

  @Test func `A module with folders that is not in the table is found, one without is let pass`() {
    let files = (Self.sound + [("Sources/Flat/A.swift", "struct A {}\n")]).map { SourceFile(path: $0.0, text: $0.1) }
    #expect(FolderTests.missingModules(files, ["M": Self.table]) == ["Other"])
    #expect(FolderTests.missingModules(files, ["M": Self.table, "Other": [:]]) == [])
  }

  @Test func `A circle is found, of two and of three`() {
    let two: [String: Set<String>] = ["A": ["B"], "B": ["A", "C"], "C": []]
    #expect(two.nodesInCircles == ["A", "B"])
    let three: [String: Set<String>] = ["A": ["B"], "B": ["C"], "C": ["A"], "D": ["A"]]
    #expect(three.nodesInCircles == ["A", "B", "C"])
    #expect(Self.table.nodesInCircles == [])
  }
}
