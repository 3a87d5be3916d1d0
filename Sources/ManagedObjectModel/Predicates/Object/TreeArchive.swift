import Foundation

/// The archived form of predicates and expressions: their text, in which variables stand for the values that a text
/// would not repeat exactly, and these values as texts. What is read passes through the parser, so an archive of
/// unknown origin makes no tree that a format could not make.
struct TreeArchive {
  private(set) var text = ""
  /// In the order of their variables.
  private var values: [Any] = []
  private let prefix: String

  private static let textKey = "OCDFormat"
  private static let valuesKey = "OCDValues"
  private static let prefixKey = "OCDVariablePrefix"

  /// - Throws: `NSError` 4866 (`CocoaError.coderInvalidValue`) for a tree with a block, an object, or a value of a type
  ///   that predicates do not compare, and for one that nests deeper than formats may.
  init(_ node: PredicateNode) throws {
    prefix = Self.prefix { visit in _ = node.mapOperands { visit($0) } }
    let form = try node.mapOperands { try replacement($0) }
    text = form.formatDescription
    guard try Self.reading(text, { try PredicateParser.parse($0) }) == form else { throw Self.unwritable(text) }
  }

  init(_ operand: PredicateOperand) throws {
    prefix = Self.prefix { visit in _ = operand.map { visit($0) } }
    let form = try operand.map { try replacement($0) }
    text = form.formatDescription
    guard try Self.reading(text, { try PredicateParser.parseExpression($0) }) == form else {
      throw Self.unwritable(text)
    }
  }

  /// Reads what `encode(with:)` wrote; nil for anything else.
  init?(coder: NSCoder) {
    let classes: [AnyClass] = [NSArray.self, NSString.self]
    guard coder.allowsKeyedCoding,
      let text = coder.decodeObject(of: NSString.self, forKey: Self.textKey),
      let prefix = coder.decodeObject(of: NSString.self, forKey: Self.prefixKey),
      let values = coder.decodeObject(of: classes, forKey: Self.valuesKey) as? [Any]
    else { return nil }
    (self.text, self.prefix, self.values) = (String(describing: text), String(describing: prefix), values)
  }

  func encode(with coder: NSCoder) {
    coder.encode(NSString(string: text), forKey: Self.textKey)
    coder.encode(NSString(string: prefix), forKey: Self.prefixKey)
    coder.encode(Self.list(values), forKey: Self.valuesKey)
  }

  /// The predicate that was archived; nil if the archive is damaged.
  var node: PredicateNode? {
    guard let constants, let form = try? PredicateParser.parse(text) else { return nil }
    return form.substituting(constants)
  }

  /// The expression that was archived; nil if the archive is damaged.
  var operand: PredicateOperand? {
    guard let constants, let form = try? PredicateParser.parseExpression(text) else { return nil }
    return form.substituting(constants)
  }

  private var constants: [String: PredicateConstant]? {
    var constants: [String: PredicateConstant] = [:]
    for (index, value) in values.enumerated() {
      guard let constant = ArchivedConstant.constant(value) else { return nil }
      constants[prefix + String(index)] = constant
    }
    return constants
  }

  // MARK: Writing

  /// A beginning that no variable of the tree has.
  private static func prefix(_ visitAll: ((PredicateOperand) -> PredicateOperand?) -> Void) -> String {
    var names: [String] = []
    visitAll { operand in
      switch operand {
      case .variable(let name): names.append(name)
      case .subquery(let subquery): names.append(subquery.variable)
      default: break
      }
      return nil
    }
    var prefix = "value"
    while names.contains(where: { $0.hasPrefix(prefix) }) { prefix += "_" }
    return prefix
  }

  private mutating func replacement(_ operand: PredicateOperand) throws -> PredicateOperand? {
    switch operand {
    case .constant(.null), .constant(.boolean), .constant(.text): return nil
    case .constant(.integer(let number)) where number >= 0: return nil
    case .constant(let constant): return try variable(for: constant)
    // A format with a number here means a date.
    case .function(.cast, let arguments):
      guard case .constant(let constant) = arguments[0] else { return nil }
      return .function(.cast, [try variable(for: constant), arguments[1]])
    case .block(let block, _) where block.kind == .client:
      throw Self.failure("An expression made from a block can't be archived.")
    default: return nil
    }
  }

  private mutating func variable(for constant: PredicateConstant) throws -> PredicateOperand {
    guard let value = ArchivedConstant.value(constant) else {
      throw Self.failure(
        "\(constant.formatDescription) can't be archived. Archive the predicate with a variable such as $object, and set "
          + "it with withSubstitutionVariables after reading.")
    }
    values.append(value)
    return .variable(prefix + String(values.count - 1))
  }

  private static func reading<Tree>(_ text: String, _ parse: (String) throws -> Tree) throws -> Tree {
    do {
      return try parse(text)
    } catch {
      throw unwritable(text)
    }
  }

  private static func unwritable(_ text: String) -> NSError {
    failure("The predicate can't be archived, because no format repeats it: \(text.prefix(200)).")
  }

  private static func failure(_ reason: String) -> NSError {
    NSError(
      domain: NSCocoaErrorDomain, code: CocoaError.coderInvalidValue.rawValue,
      userInfo: [NSLocalizedDescriptionKey: reason, NSDebugDescriptionErrorKey: reason])
  }

  /// Foundation archives its own lists and texts.
  private static func list(_ values: [Any]) -> NSArray {
    NSArray(array: values.map { value in (value as? [Any]).map(list) ?? NSString(string: value as? String ?? "") })
  }
}

/// Constants as lists of texts: the name of the type, and the value in a form that repeats it exactly.
private enum ArchivedConstant {
  /// Lists in lists. Foundation's archiver takes seconds for twenty of them.
  private static let depthMax = 8

  /// Nil for objects, for values that predicates do not compare, and for lists that are nested deeper.
  static func value(_ constant: PredicateConstant, depth: Int = 0) -> [Any]? {
    switch constant {
    case .null: ["null", ""]
    case .boolean(let flag): ["boolean", flag ? "1" : "0"]
    case .integer(let number): ["integer", String(number)]
    case .real(let number): ["real", String(number.bitPattern, radix: 16)]
    case .decimal(let number): ["decimal", number.description]
    case .text(let text): ["text", text]
    case .date(let date): ["date", String(date.timeIntervalSinceReferenceDate.bitPattern, radix: 16)]
    case .uuid(let uuid): ["uuid", uuid.uuidString]
    case .url(let url): URL(string: url.absoluteString) == nil ? nil : ["url", url.absoluteString]
    case .data(let data): ["data", data.base64EncodedString()]
    case .collection(let constants): depth < depthMax ? list(constants, depth: depth + 1) : nil
    case .object, .unsupported: nil
    }
  }

  private static func list(_ constants: [PredicateConstant], depth: Int) -> [Any]? {
    let values = constants.compactMap { value($0, depth: depth) }
    return values.count == constants.count ? ["list", values] : nil
  }

  /// Nil for anything that `value(_:)` does not make.
  static func constant(_ value: Any, depth: Int = 0) -> PredicateConstant? {
    guard depth <= depthMax, let pair = value as? [Any], pair.count == 2, let type = pair[0] as? String else {
      return nil
    }
    if type == "list" {
      guard let values = pair[1] as? [Any] else { return nil }
      let constants = values.compactMap { constant($0, depth: depth + 1) }
      return constants.count == values.count ? .collection(constants) : nil
    }
    guard let text = pair[1] as? String else { return nil }
    switch type {
    case "null": return .null
    case "boolean": return ["0", "1"].contains(text) ? .boolean(text == "1") : nil
    case "integer": return Int64(text).map { .integer($0) }
    case "real": return real(text).map { .real($0) }
    // Decimal reads a text as far as it is a number.
    case "decimal" where text == "NaN": return .decimal(.nan)
    case "decimal": return Decimal(string: text).flatMap { $0.description == text ? .decimal($0) : nil }
    case "text": return .text(text)
    case "date": return real(text).map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
    case "uuid": return UUID(uuidString: text).map { .uuid($0) }
    case "url": return URL(string: text).map { .url($0) }
    case "data": return Data(base64Encoded: text).map { .data($0) }
    default: return nil
    }
  }

  private static func real(_ text: String) -> Double? {
    UInt64(text, radix: 16).map { Double(bitPattern: $0) }
  }
}

extension NSCoder {
  /// Archives a tree; the coder reports why it can't, and ends the program.
  func encode(_ archive: () throws -> TreeArchive) {
    do {
      try archive().encode(with: self)
    } catch {
      failWithError(error)
    }
  }
}
