import Foundation
import Testing

@testable import ManagedObjectModel

// Rule (docs/manual/reference/limits.md): a property list has at most 16 MiB, and containers that are nested 64 deep.

@Suite("Property lists that are too large or too deep are refused with the reason") struct PropertyListLimitTests {
  /// A dictionary, arrays within one another, and a number, in so many levels.
  private static func list(levels: Int) -> [String: Any] {
    var value: Any = 1
    for _ in 0..<levels - 2 { value = [value] }
    return ["key": value]
  }

  private static func problem(_ data: Data) -> String? {
    do throws(ArchiveProblem) {
      _ = try PropertyListData.dictionary(data)
      return nil
    } catch {
      return "\(error)"
    }
  }

  @Test("Binary lists end at 64 levels")
  func binary() throws {
    for (levels, isRefused) in [(3, false), (64, false), (65, true), (200, true)] {
      let data = try PropertyListSerialization.data(
        fromPropertyList: Self.list(levels: levels), format: .binary, options: 0)
      #expect(Self.problem(data)?.contains("nested more than 64 deep") ?? false == isRefused, "\(levels)")
    }
  }

  @Test("Lists of XML end at 64 levels, however deep they are", arguments: [3, 64, 65, 200_000])
  func xml(levels: Int) {
    let arrays = levels - 2
    let text =
      "<?xml version=\"1.0\"?><plist version=\"1.0\"><dict><key>key</key>" + String(repeating: "<array>", count: arrays)
      + "<integer>1</integer>" + String(repeating: "</array>", count: arrays) + "</dict></plist>"
    #expect(Self.problem(Data(text.utf8))?.contains("nested more than 64 deep") ?? false == (levels > 64))
  }

  @Test(
    "What only looks like the end of a container ends none",
    arguments: ["<!--</array>-->", "<![CDATA[</array>]]>", "<?a </array>?>"])
  func otherParts(part: String) {
    func problem(_ levels: Int, attribute: String = "") -> String? {
      let (start, end) = (String(repeating: "<array\(attribute)>\(part)", count: levels), "</array>")
      let list = start + String(repeating: end, count: levels)
      return Self.problem(
        Data("<?xml version=\"1.0\"?><plist><dict><key>a</key>\(list)</dict></plist>".utf8))
    }
    #expect(problem(60)?.contains("nested") != true)
    for attribute in ["", " a=\"</array\""] {
      #expect(problem(200_000, attribute: attribute)?.contains("nested more than 64 deep") == true)
    }
  }

  @Test("A list of more than 16 MiB is not read")
  func size() throws {
    for (bytes, isRefused) in [(15 << 20, false), (16 << 20, true)] {
      let data = try PropertyListSerialization.data(
        fromPropertyList: ["key": Data(count: bytes)], format: .binary, options: 0)
      #expect(Self.problem(data)?.contains("has more than 16 MiB") ?? false == isRefused, "\(bytes)")
    }
  }
}
