extension Rule {
  static let all: [Rule] = [
    fileLength, traps, preconditions, isolation, forceUnwraps, bannedWords, unsafePointers, arrows, machinePaths,
    locks, disabledTests, unlabelledParameters, words, wordsOfTests, wordsOfScripts,
    productWordsStay, documented, documentedErrors, storeDeclarations, wordsOfMessages, lengthOfMessages,
    formOfMessages,
  ]

  static let fileLinesMax = 400

  static let fileLength = Rule(
    "No Swift file is longer than 400 lines",
    covers: \.isSwift,
    canaries: [(String(repeating: "let a = 1\n", count: fileLinesMax + 1), fileLinesMax + 1)],
    permitted: [String(repeating: "let a = 1\n", count: fileLinesMax)]
  ) { file in
    file.lines.count > fileLinesMax ? [fileLinesMax + 1] : []
  }

  static let traps = Rule(
    "Sources do not trap without the reason beside it",
    covers: { $0.isSwift && $0.lies(in: "Sources") },
    canaries: [
      ("let a = 1\nlet b = try! load()", 2),
      ("fatalError(\"no\")", 1),
      ("let c = a as! B", 1),
      ("/// Loads.\nlet b = try! load()", 2),
    ],
    permitted: [
      "// The file is part of the program.\nlet b = try! load()",
      "let b = try! load()  // cannot fail",
      "let text = \"try! fatalError()\"",
      "// never try! anything",
      "let b = try? load()",
    ]
  ) { file in
    unreasoned(file) { $0.contains("try!") || $0.contains("fatalError(") || $0.contains(" as! ") }
  }

  static let isolation = Rule(
    "Sources leave concurrency checking on, or prove why not",
    covers: { $0.isSwift && $0.lies(in: "Sources") },
    canaries: [
      ("final class A: @unchecked Sendable {}", 1),
      ("nonisolated(unsafe) var a = 1", 1),
      ("/// A box of things.\nfinal class A: @unchecked Sendable {}", 2),
    ],
    permitted: [
      "// Unchecked: everything in it is guarded by the lock.\nfinal class A: @unchecked Sendable {}",
      "/// A box. Safe to share: it never changes.\nfinal class A: @unchecked Sendable {}",
      "nonisolated(unsafe) let a = {\n  // Safe: made once.\n  1\n}()",
      "final class A: Sendable {}",
    ]
  ) { file in
    unreasoned(file) { $0.contains("@unchecked Sendable") || $0.contains("nonisolated(unsafe)") }
  }

  static let forceUnwraps = Rule(
    "Sources do not unwrap by force without the reason beside it",
    covers: { $0.isSwift && $0.lies(in: "Sources") },
    canaries: [("let a = b!", 1), ("let a = b[0]!.c", 1), ("let a = b()!", 1), ("var a: Int!", 1)],
    permitted: [
      "if !a, a != b, a !== c, a!=b { }", "let a = \"b!\"", "// b!", "#if !os(Linux)",
      "// There is one at least.\nlet a = b!",
    ]
  ) { file in
    unreasoned(file) { line in
      let signs = Array(line)
      return signs.indices.dropFirst().contains { at in
        guard signs[at] == "!", at + 1 == signs.count || signs[at + 1] != "=" else { return false }
        let before = signs[at - 1]
        let word = signs[..<at].reversed().prefix { $0.isLetter }.reversed()
        guard String(word) != "try", String(word) != "as" else { return false }
        return before.isLetter || before.isNumber || "_)]>`?".contains(before)
      }
    }
  }

  static let bannedWords = Rule(
    "Nothing is put off",
    covers: { !$0.lies(in: "Tests/TidyTests") },
    canaries: [
      ("let a = 1  // TODO: more", 1), ("\n// FIXME", 2), ("// XXX: wrong", 1), ("// HACK", 1),
      ("/// Good enough for now.", 1),
    ],
    permitted: ["let todos = 1", "// zone letters: X, XX, XXX", "// for nowhere"]
  ) { file in
    file.lineNumbers(of: file.lines) { line in
      let words = line.split { !$0.isLetter }
      return words.contains { ["TODO", "FIXME", "HACK"].contains($0) }
        || line.contains("// XXX")
        || zip(words, words.dropFirst()).contains { $0.lowercased() == "for" && $1.lowercased() == "now" }
    }
  }

  /// Where pointers are passed to C, or have to stay where they are, where a byte must not cost a check.
  static let pointerFolders = [
    "Sources/CSV/Encoding", "Sources/CSV/Hash", "Sources/CSV/Parser", "Sources/CSV/Reader", "Sources/CSV/Source",
    "Sources/CSV/Sink", "Sources/SystemSupport", "Sources/ManagedObjectModel/ModelFiles/ModelXML",
    "Sources/PersistentStores/Compression", "Sources/PersistentStores/External", "Sources/PersistentStores/Opening",
    "Sources/PersistentStores/Predicates", "Sources/PersistentStores/SQLite", "Sources/PersistentStores/SQLiteStore",
    "Sources/PostgreSQLStore/Connection", "Sources/PostgreSQLStore/Library",
  ]

  static let unsafePointers = Rule(
    "Unsafe pointers stay in the parser and beside the C libraries",
    path: "Sources/OpenCoreData/Example.swift",
    covers: { file in
      file.isSwift && file.lies(in: "Sources") && !pointerFolders.contains { file.lies(in: $0) }
    },
    canaries: [
      ("func a(_ b: UnsafeRawBufferPointer) {}", 1), ("b.withUnsafeBytes { _ in }", 1),
      ("let c = unsafeBitCast(a, to: Int.self)", 1), ("let d: OpaquePointer? = nil", 1),
    ],
    permitted: ["// UnsafeRawPointer", "nonisolated(unsafe) var a = 1", "func a(_ b: Span<UInt8>) {}"]
  ) { file in
    file.lineNumbers(of: file.code) { line in
      line.split { !$0.isLetter && !$0.isNumber }.contains { word in
        word.hasPrefix("Unsafe") || word.hasPrefix("withUnsafe")
          || word.hasPrefix("unsafe") && word != "unsafe"
          || word == "OpaquePointer" || word == "Unmanaged"
      }
    }
  }

  static let arrows = Rule(
    "Modules import only what lies below them", path: "Sources/CSV/Example.swift",
    covers: { $0.isSwift && $0.module != nil },
    canaries: [
      ("import Foundation\nimport OpenCoreData", 2), ("@testable import OpenCoreData", 1),
      ("public import PipelineEngine", 1), ("import struct OpenCoreData.A", 1), ("import Elsewhere", 1),
    ],
    permitted: ["import Foundation\nimport CISAL", "// import OpenCoreData", "let importer = OpenCoreData"]
  ) { file in
    let allowed = ModuleTable.system.union(file.module.flatMap { ModuleTable.imports[$0] } ?? [])
    return file.lineNumbers(of: file.code) { line in
      ModuleTable.importedModule(line).map { !allowed.contains($0) } ?? false
    }
  }

  static let machinePaths = Rule(
    "No path of one machine is written down",
    // Scripts of continuous integration name paths in the systems that they make.
    covers: { !$0.lies(in: "Tests/TidyTests") && !$0.lies(in: ".ci") },
    canaries: [
      ("let a = \"/home/ann/log.csv\"", 1), ("# see /tmp/x", 1), ("open(\"/root/a\")", 1),
      ("`/opt/swift/usr/bin`", 1), ("/Users/ann/a", 1),
    ],
    permitted: ["let a = \"/usr/bin/env\"", "cash/home/run", "https://example.org/work/a", "a/opt/b"]
  ) { file in
    file.lineNumbers(of: file.lines) { line in
      ["/work/", "/root/", "/home/", "/Users/", "/opt/", "/tmp/"].contains { folder in
        line.ranges(of: folder).contains { range in
          guard range.lowerBound > line.startIndex else { return true }
          let before = line[line.index(before: range.lowerBound)]
          return !before.isLetter && !before.isNumber && !"._-)}".contains(before)
        }
      }
    }
  }

  static let locks = Rule(
    "Locks are of the kind that the thread sanitizer sees",
    covers: \.isSwift,
    canaries: [("let a = Mutex(0)", 1), ("\nlet a: Mutex<Int>", 2)],
    permitted: ["let a = Locked(0)", "// not a Mutex", "let a = NSLock()", "let a = Atomic<Int>(0)"]
  ) { file in
    file.lineNumbers(of: file.code) { line in
      line.split { !$0.isLetter }.contains { $0 == "Mutex" }
    }
  }

  static let disabledTests = Rule(
    "Every test runs", path: "Tests/CSVTests/Example.swift",
    covers: { $0.isSwift && $0.lies(in: "Tests") },
    canaries: [
      ("@Test(.disabled(\"slow\"))", 1), ("throw XCTSkip()", 1), ("withKnownIssue { }", 1),
      ("@Test(.disabled())", 1),
    ],
    permitted: ["@Test(.enabled(if: Shared.isThere))", "// .disabled(", "let text = \"XCTSkip\""]
  ) { file in
    file.lineNumbers(of: file.code) { line in
      line.contains(".disabled(") || line.contains("XCTSkip") || line.contains("withKnownIssue")
    }
  }

  private static func unreasoned(_ file: SourceFile, where isSuspect: (String) -> Bool) -> [Int] {
    file.lineNumbers(of: file.code, where: isSuspect).filter { !file.givesReason(line: $0) }
  }
}
