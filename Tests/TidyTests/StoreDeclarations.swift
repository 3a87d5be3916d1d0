extension Rule {
  static let storeDeclarations = Rule(
    "A suite of fetches, results, contexts and merging says on which stores it runs",
    path: "Tests/OpenCoreDataTests/Merging/Example.swift",
    covers: { file in
      file.isSwift
        && ["Fetching", "Graph", "Merging", "Results"].contains { file.lies(in: "Tests/OpenCoreDataTests/\($0)") }
    },
    canaries: [
      ("@Suite(\"A\")\nstruct A {}", 1), ("@Suite struct A {}", 1), ("import B\n@Suite(\n  .seeded)\nstruct A {}", 2),
      ("struct A {\n  @Test func a() {}\n}", 2), ("@Suite(\".overBothStores\") struct A {}", 1),
    ],
    permitted: [
      "@Suite(\"A\", .overBothStores, .seeded)\nstruct A {\n  @Test func a() {}\n}",
      "@Suite(\n  \"A\",\n  .sqliteOnly(\"About the file\"))\nstruct A {}", "struct A {}",
      "@Suite(\"A\", .withoutStore(\"It compares lists\")) struct A {}",
    ]
  ) { file in
    let suites = file.code.indices.filter { file.code[$0].contains("@Suite") }
    guard !suites.isEmpty else { return file.code.firstIndex { $0.contains("@Test") }.map { [$0 + 1] } ?? [] }
    return suites.filter { start in
      let end = file.code[start...].firstIndex { $0.contains("struct ") || $0.contains("class ") } ?? start
      let attribute = file.code[start...end].joined()
      return ![".overBothStores", ".sqliteOnly(", ".withoutStore("].contains { attribute.contains($0) }
    }.map { $0 + 1 }
  }
}
