import Foundation

/// Reads binary property lists (`bplist00`), references of keyed archives included.
///
/// Robust against damaged files: every offset and count is checked against the available bytes, and each object is read
/// once. Containers may share objects; how much they would unfold to is counted and limited, because readers walk
/// through shared objects each time.
struct BinaryPropertyListReader {
  private let bytes: [UInt8]
  private let referenceBytes: Int
  private var offsets: [Int] = []
  /// The objects that were read, by number.
  private var known: [Int: Known] = [:]
  /// The containers that are being read.
  private var open: Set<Int> = []
  private let valuesMax: Int
  private let contentBytesMax: Int

  /// An object with the size that it has without sharing.
  private struct Known {
    let value: ArchiveValue
    var height = 1
    var values = 1
    var contentBytes = 0

    mutating func add(_ part: Known) {
      height = max(height, part.height + 1)
      // Each part is limited, so that the sums stay small.
      values += part.values
      contentBytes += part.contentBytes
    }
  }

  static let depthMax = 64
  /// How many values a list may unfold to, for each of its bytes.
  static let valuesPerByteMax = 16
  /// How many bytes of texts and data a list may unfold to in addition to its own.
  static let sharedBytesMax = 64 << 20
  private static let magic = Array("bplist".utf8)
  private static let trailerBytes = 32

  static func isOne(_ data: Data) -> Bool { data.prefix(magic.count).elementsEqual(magic) }

  static func read(_ data: Data) throws(ArchiveProblem) -> ArchiveValue {
    var (reader, top) = try open(data)
    return try reader.object(top, depth: 0).value
  }

  private static func open(_ data: Data) throws(ArchiveProblem) -> (BinaryPropertyListReader, top: Int) {
    let bytes = Array(data)
    guard bytes.count >= magic.count + 2 + trailerBytes, isOne(data) else {
      throw ArchiveProblem("it is too short for a binary property list")
    }
    let trailer = bytes.count - trailerBytes
    func number(_ at: Int) -> Int? { Self.bigEndian(bytes[(trailer + at)..<(trailer + at + 8)]) }
    let (offsetBytes, referenceBytes) = (Int(bytes[trailer + 6]), Int(bytes[trailer + 7]))
    guard let count = number(8), let top = number(16), let table = number(24), (1...8).contains(offsetBytes),
      (1...8).contains(referenceBytes), table >= magic.count + 2, table <= trailer,
      count <= (trailer - table) / offsetBytes, top < count
    else { throw ArchiveProblem("the offset table at its end is damaged or cut off") }

    var reader = BinaryPropertyListReader(
      bytes: bytes, referenceBytes: referenceBytes)
    reader.offsets.reserveCapacity(count)
    for index in 0..<count {
      let start = table + index * offsetBytes
      guard let offset = bigEndian(bytes[start..<start + offsetBytes]), offset < table else {
        throw ArchiveProblem("the offset of object \(index) is beyond its end")
      }
      reader.offsets.append(offset)
    }
    return (reader, top)
  }

  private init(bytes: [UInt8], referenceBytes: Int) {
    self.bytes = bytes
    self.referenceBytes = referenceBytes
    valuesMax = Self.valuesPerByteMax * bytes.count
    contentBytesMax = Self.sharedBytesMax + bytes.count
  }

  // MARK: Objects

  private mutating func object(_ index: Int, depth: Int) throws(ArchiveProblem) -> Known {
    guard offsets.indices.contains(index) else {
      throw ArchiveProblem("it refers to object \(index), which is not there")
    }
    let object: Known
    if let found = known[index] {
      object = found
    } else {
      guard depth < Self.depthMax else { throw Self.tooDeep }
      guard open.insert(index).inserted else { throw ArchiveProblem("its object \(index) contains itself") }
      object = try read(index, depth: depth)
      open.remove(index)
      known[index] = object
    }
    guard depth + object.height <= Self.depthMax else { throw Self.tooDeep }
    return object
  }
  static let tooDeep = ArchiveProblem("its containers are nested more than \(depthMax) deep")

  private mutating func read(_ index: Int, depth: Int) throws(ArchiveProblem) -> Known {
    var at = offsets[index]
    let marker = bytes[at]
    at += 1
    switch marker >> 4 {
    case 0x0: return Known(value: marker == 0x09 ? .flag(true) : marker == 0x08 ? .flag(false) : .null)
    case 0x1: return Known(value: .integer(try integer(at, bytes: 1 << Int(marker & 0x0F))))
    case 0x2: return Known(value: .real(try real(at, bytes: 1 << Int(marker & 0x0F))))
    case 0x3: return Known(value: .date(Date(timeIntervalSinceReferenceDate: try real(at, bytes: 8))))
    case 0x8: return Known(value: .reference(try unsigned(at, bytes: Int(marker & 0x0F) + 1)))
    case 0x4, 0x5, 0x6, 0x7:
      return Known(value: try bytesValue(marker, at), contentBytes: try count(marker, at).0)
    // The format has sets, property lists have none, and Foundation's reader ends the process at one that is not empty.
    case 0xB, 0xC: throw ArchiveProblem("object \(index) is a set, which a property list can't hold")
    case 0xA:
      let (count, start) = try count(marker, at)
      var size = Known(value: .null)
      let list = try values(count, at: start, depth: depth, &size)
      return Known(value: .list(list), height: size.height, values: size.values, contentBytes: size.contentBytes)
    case 0xD: return try dictionary(marker, at: at, depth: depth)
    default: throw ArchiveProblem("object \(index) has an unknown type")
    }
  }

  private func bytesValue(_ marker: UInt8, _ start: Int) throws(ArchiveProblem) -> ArchiveValue {
    let (count, at) = try count(marker, start)
    switch marker >> 4 {
    case 0x4: return .data(Data(try slice(at, count)))
    // Both ASCII and UTF-8.
    case 0x5, 0x7: return .text(String(decoding: try slice(at, count), as: UTF8.self))
    default:
      guard count <= bytes.count else { throw Self.cutOff }
      let units = try slice(at, 2 * count)
      let text = stride(from: units.startIndex, to: units.endIndex, by: 2).map {
        UInt16(units[$0]) << 8 | UInt16(units[$0 + 1])
      }
      return .text(String(decoding: text, as: UTF16.self))
    }
  }

  private mutating func dictionary(_ marker: UInt8, at start: Int, depth: Int) throws(ArchiveProblem) -> Known {
    let (count, at) = try count(marker, start)
    var size = Known(value: .null)
    let keys = try values(count, at: at, depth: depth, &size)
    let values = try values(count, at: at + count * referenceBytes, depth: depth, &size)
    var result: [String: ArchiveValue] = [:]
    for (key, value) in zip(keys, values) {
      guard case .text(let name) = key, result.updateValue(value, forKey: name) == nil else {
        throw ArchiveProblem("a dictionary has a duplicate key, or a key that is not text")
      }
    }
    return Known(
      value: .dictionary(result), height: size.height, values: size.values, contentBytes: size.contentBytes)
  }

  private mutating func values(
    _ count: Int, at: Int, depth: Int, _ size: inout Known
  ) throws(ArchiveProblem) -> [ArchiveValue] {
    guard count <= bytes.count / referenceBytes, at + count * referenceBytes <= bytes.count else { throw Self.cutOff }
    var result: [ArchiveValue] = []
    result.reserveCapacity(count)
    for number in 0..<count {
      let index = try unsigned(at + number * referenceBytes, bytes: referenceBytes)
      let part = try object(index, depth: depth + 1)
      size.add(part)
      guard size.values <= valuesMax else { throw ArchiveProblem("its containers unfold to too many values") }
      guard size.contentBytes <= contentBytesMax else {
        throw ArchiveProblem("its shared texts unfold to more than \(Self.sharedBytesMax >> 20) MiB")
      }
      result.append(part.value)
    }
    return result
  }

  // MARK: Bytes

  private static let cutOff = ArchiveProblem("an object extends beyond its end")

  /// The count in a marker, or in the integer after it, and the start of the contents.
  private func count(_ marker: UInt8, _ at: Int) throws(ArchiveProblem) -> (Int, Int) {
    guard marker & 0x0F == 0x0F else { return (Int(marker & 0x0F), at) }
    guard at < bytes.count, bytes[at] >> 4 == 0x1 else { throw ArchiveProblem("the size of an object is damaged") }
    let size = 1 << Int(bytes[at] & 0x0F)
    let count = try unsigned(at + 1, bytes: size)
    guard count <= bytes.count else { throw Self.cutOff }
    return (count, at + 1 + size)
  }

  private func slice(_ at: Int, _ count: Int) throws(ArchiveProblem) -> ArraySlice<UInt8> {
    guard count >= 0, at <= bytes.count, count <= bytes.count - at else { throw Self.cutOff }
    return bytes[at..<at + count]
  }

  /// One, two and four bytes are unsigned; of sixteen bytes the last eight are read.
  private func integer(_ at: Int, bytes size: Int) throws(ArchiveProblem) -> Int64 {
    guard size <= 16 else { throw ArchiveProblem("an integer has \(size) bytes") }
    return try slice(at, size).suffix(8).reduce(Int64(0)) { $0 << 8 | Int64($1) }
  }

  private func real(_ at: Int, bytes size: Int) throws(ArchiveProblem) -> Double {
    let pattern = try slice(at, size).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    switch size {
    case 4: return Double(Float(bitPattern: UInt32(truncatingIfNeeded: pattern)))
    case 8: return Double(bitPattern: pattern)
    default: throw ArchiveProblem("a real number has \(size) bytes")
    }
  }

  private func unsigned(_ at: Int, bytes size: Int) throws(ArchiveProblem) -> Int {
    guard let number = Self.bigEndian(try slice(at, size)) else { throw Self.cutOff }
    return number
  }

  /// Nil for values too large for a position in a file.
  private static func bigEndian(_ bytes: ArraySlice<UInt8>) -> Int? {
    var number = 0
    for byte in bytes {
      guard number <= Int.max >> 8 else { return nil }
      number = number << 8 | Int(byte)
    }
    return number
  }
}
