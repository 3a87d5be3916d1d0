import ManagedObjectModel
import Foundation

/// Writes binary property lists (`bplist00`) with sorted keys.
///
/// PropertyListSerialization writes a dictionary in the order of its hash table, which differs between runs; two stores
/// with the same contents would then differ in their bytes.
enum BinaryPropertyList {
  static func data(for root: Any) throws -> Data {
    var writer = Writer()
    let top = try writer.add(root, path: "metadata")
    return writer.finish(top: top)
  }

  /// Objects are numbered as they are added, children before the container that refers to them.
  private struct Writer {
    private enum Object {
      case bytes([UInt8])
      /// A marker (0xA0 array, 0xD0 dictionary), its count, and the numbers of the referenced objects.
      case references(marker: UInt8, count: Int, [Int])
    }

    private var objects: [Object] = []

    mutating func add(_ value: Any, path: String) throws -> Int {
      let object: Object
      switch value {
      case let dictionary as [String: Any]:
        let keys = dictionary.keys.sorted(by: String.byteOrder)
        let keyNumbers = try keys.map { try add($0, path: path) }
        let values = try keys.map { try add(dictionary[$0] ?? "", path: "\(path).\($0)") }
        object = .references(marker: 0xD0, count: keys.count, keyNumbers + values)
      case let array as [Any]:
        let numbers = try array.map { try add($0, path: path) }
        object = .references(marker: 0xA0, count: numbers.count, numbers)
      default:
        guard let bytes = Self.scalarBytes(value) else {
          throw NSError.coreData(
            .coreData,
            "\(path) has a value of type \(type(of: value)), which a property list can't contain. "
              + "Use texts, numbers, dates, data, arrays and dictionaries with text keys.")
        }
        object = .bytes(bytes)
      }
      objects.append(object)
      return objects.count - 1
    }

    func finish(top: Int) -> Data {
      let referenceBytes = Self.size(of: objects.count)
      var data = Array("bplist00".utf8)
      var offsets: [Int] = []
      for object in objects {
        offsets.append(data.count)
        switch object {
        case .bytes(let bytes): data += bytes
        case .references(let marker, let count, let references):
          data += Self.header(marker, count)
          for reference in references { data += Self.bigEndian(reference, bytes: referenceBytes) }
        }
      }
      let table = data.count
      let offsetBytes = Self.size(of: table)
      for offset in offsets { data += Self.bigEndian(offset, bytes: offsetBytes) }
      data += [0, 0, 0, 0, 0, 0, UInt8(offsetBytes), UInt8(referenceBytes)]
      for number in [objects.count, top, table] { data += Self.bigEndian(number, bytes: 8) }
      return Data(data)
    }

    private static func scalarBytes(_ value: Any) -> [UInt8]? {
      switch value {
      case let text as String: return textBytes(text)
      case let data as Data: return header(0x40, data.count) + data
      case let date as Date: return [0x33] + bigEndian(date.timeIntervalSinceReferenceDate)
      case let number as NSNumber: return numberBytes(number)
      default: return nil
      }
    }

    private static func textBytes(_ text: String) -> [UInt8] {
      let utf8 = Array(text.utf8)
      if utf8.allSatisfy({ $0 < 0x80 }) { return header(0x50, utf8.count) + utf8 }
      let units = Array(text.utf16)
      return header(0x60, units.count) + units.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
    }

    private static func numberBytes(_ number: NSNumber) -> [UInt8] {
      // The numbers 1 and 0 cast to Bool; only the two shared objects are Booleans.
      if number === NSNumber(value: true) { return [0x09] }
      if number === NSNumber(value: false) { return [0x08] }
      let kind = String(cString: number.objCType)
      if kind == "d" || kind == "f" { return [0x23] + bigEndian(number.doubleValue) }
      let integer = number.int64Value
      // Beyond signed 64 bits, 16 bytes are the only unsigned form.
      if integer < 0, number.compare(NSNumber(value: 0)) == .orderedDescending {
        return [0x14] + Array(repeating: 0, count: 8) + bigEndian(Int(integer), bytes: 8)
      }
      // Negative numbers always take eight bytes; shorter forms are unsigned.
      let size = integer < 0 ? 8 : size(of: Int(integer))
      return [0x10 | UInt8(size.trailingZeroBitCount)] + bigEndian(Int(integer), bytes: size)
    }

    private static func header(_ marker: UInt8, _ count: Int) -> [UInt8] {
      if count < 15 { return [marker | UInt8(count)] }
      let size = size(of: count)
      return [marker | 0x0F, 0x10 | UInt8(size.trailingZeroBitCount)] + bigEndian(count, bytes: size)
    }

    /// The 1, 2, 4 or 8 bytes of an unsigned number.
    private static func size(of number: Int) -> Int {
      number < 1 << 8 ? 1 : number < 1 << 16 ? 2 : number < 1 << 32 ? 4 : 8
    }

    private static func bigEndian(_ number: Int, bytes: Int) -> [UInt8] {
      (0..<bytes).map { UInt8(truncatingIfNeeded: number >> (8 * (bytes - 1 - $0))) }
    }

    private static func bigEndian(_ number: Double) -> [UInt8] {
      bigEndian(Int(truncatingIfNeeded: number.bitPattern), bytes: 8)
    }
  }
}
