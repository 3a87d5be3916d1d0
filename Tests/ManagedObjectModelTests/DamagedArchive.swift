import Foundation
import ModelTestSupport

/// Archives of Foundation's classes, whole and with one damage.
enum DamagedArchive: CaseIterable {
  case classOfAnotherObject, listWithinItself, deepLists, sharedLists, listWithoutReferences, listWithNull
  case dictionaryWithoutClass, dictionaryWithoutAKey, dictionaryWithANullKey, dictionaryWithAnInvalidURL
  case textWithoutText, dateWithoutTime, emptyUUID, dataWithoutData, addressOfAnotherClass, baseOfAnotherClass
  case urlWithAnInvalidPort

  func data(isDamaged: Bool) throws -> Data {
    let builder = ArchiveBuilder()
    return try builder.xml(root: builder.list([object(builder, isDamaged)]))
  }

  private func object(_ builder: ArchiveBuilder, _ isDamaged: Bool) -> [String: Any] {
    let text = builder.add("a")
    let other = builder.list([text])
    switch self {
    case .classOfAnotherObject:
      return builder.object(isDamaged ? "NSObject" : "NSMutableArray", ["NS.objects": [text]])
    case .listWithinItself:
      if isDamaged { builder.set(other, ["NS.objects": [other]]) }
      return other
    case .deepLists: return (0..<(isDamaged ? 100_000 : 100)).reduce(other) { inner, _ in builder.list([inner]) }
    case .listWithoutReferences:
      let members: [Any] = isDamaged ? ["a"] : [text]
      return builder.object("NSArray", ["NS.objects": members])
    case .dictionaryWithoutClass:
      return isDamaged ? builder.add(["NS.objects": [text]]) : other
    case .dictionaryWithoutAKey:
      return builder.object("NSDictionary", ["NS.keys": Array([text].prefix(isDamaged ? 0 : 1)), "NS.objects": [text]])
    case .dictionaryWithANullKey:
      return builder.object(
        "NSDictionary", ["NS.keys": [isDamaged ? builder.add("$null") : text], "NS.objects": [text]])
    case .listWithNull: return builder.list(isDamaged ? [text, builder.add("$null")] : [text])
    case .textWithoutText: return builder.object("NSMutableString", [isDamaged ? "NS.text" : "NS.string": "a"])
    case .dateWithoutTime: return builder.object("NSDate", [isDamaged ? "NS.tide" : "NS.time": 1.5])
    case .emptyUUID: return builder.object("NSUUID", ["NS.uuidbytes": Data(count: isDamaged ? 0 : 16)])
    case .addressOfAnotherClass:
      return builder.object("NSURL", ["NS.base": builder.add("$null"), "NS.relative": isDamaged ? other : text])
    case .baseOfAnotherClass:
      let base = builder.object("NSURL", ["NS.base": builder.add("$null"), "NS.relative": builder.add("a://b/")])
      return builder.object("NSURL", ["NS.base": isDamaged ? other : base, "NS.relative": text])
    case .dictionaryWithAnInvalidURL:
      let relative = builder.add(isDamaged ? "a://b:c d/" : "a://b/")
      let url = builder.object("NSURL", ["NS.base": builder.add("$null"), "NS.relative": relative])
      return builder.object("NSDictionary", ["NS.keys": [text, other], "NS.objects": [url, text]])
    case .urlWithAnInvalidPort:
      let relative = builder.add(isDamaged ? "a://b:x/" : "a://b:1/")
      return builder.object("NSURL", ["NS.base": builder.add("$null"), "NS.relative": relative])
    case .dataWithoutData: return builder.object("NSMutableData", [isDamaged ? "NS.text" : "NS.data": Data([1])])
    case .sharedLists:
      return (0..<(isDamaged ? 40 : 4)).reduce(other) { inner, _ in builder.list([inner, inner]) }
    }
  }
}
