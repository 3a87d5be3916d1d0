import Foundation
import TestSupport

/// Damage to the files of a store, of one of the kinds that disks and copying cause.
struct StoreDamage: CustomStringConvertible {
  /// The form of the undamaged store.
  enum Form: String, CaseIterable {
    case closed
    /// With the -wal and the -shm of a program that was killed.
    case logged
    /// The same without its -shm.
    case copied
  }

  enum Kind: String, CaseIterable {
    case flippedBits, zeroedPage, cut, foreignLog
  }

  let form: Form
  let kind: Kind
  /// The ending of the damaged file.
  let ending: String
  let files: HarbourStore.Files
  let whole: HarbourStore.Files
  let description: String

  init(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let store = try HarbourStore.one.get()
    let kind = Kind.allCases[Int(seed % UInt64(Kind.allCases.count))]
    let form = Form.allCases.randomElement(using: &random) ?? .closed
    var whole = form == .closed ? store.closed : store.states[HarbourStore.transactions]
    if form == .copied { whole["-shm"] = nil }
    var files = whole
    let endings = files.filter { !$0.value.isEmpty }.keys.sorted()
    var ending = endings.randomElement(using: &random) ?? ""
    var data = files[ending] ?? Data()
    var place = ""
    switch kind {
    case .flippedBits:
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let (byte, bit) = (Self.byte(in: data, ending, using: &random), Int.random(in: 0..<8, using: &random))
        data[byte] ^= 1 << bit
        place += " \(byte).\(bit)"
      }
    case .zeroedPage:
      let length = ending == "" ? 4096 : [24, 512, 4096].randomElement(using: &random) ?? 24
      let start = Int.random(in: 0...data.count / length - 1, using: &random) * length
      data.replaceSubrange(start..<start + length, with: Data(count: length))
      place = " \(start)+\(length)"
    case .cut:
      let length = Bool.random(using: &random) ? 4096 : 1
      data = data.prefix(Int.random(in: 0..<data.count / length, using: &random) * length)
      place = " at \(data.count)"
    case .foreignLog:
      (ending, data) = ("-wal", Data())
      let other = try HarbourStore.other.get()
      let state = Int.random(in: 1...HarbourStore.transactions, using: &random)
      let source = Bool.random(using: &random) ? other : store
      data = source.states[state]["-wal"] ?? Data()
      let index = ["own", "its", "no"].randomElement(using: &random) ?? "no"
      if index != "own" { files["-shm"] = index == "its" ? source.states[state]["-shm"] : nil }
      place = " of \(source.closed == store.closed ? "itself" : "another store") in state \(state), \(index) index"
    }
    files[ending] = data
    (self.form, self.kind, self.ending, self.files, self.whole) = (form, kind, ending, files, whole)
    description = "\(kind.rawValue) in \(form.rawValue)\(ending):\(place)"
  }

  /// A byte, in every second case one of the first of a page, where the structure is.
  private static func byte(in data: Data, _ ending: String, using random: inout SeededGenerator) -> Int {
    let any = Int.random(in: 0..<data.count, using: &random)
    guard Bool.random(using: &random) else { return any }
    let page = ending == "-wal" ? 4096 + 24 : 4096
    let start = ending == "-wal" ? 32 : 0
    return min(start + (any / page) * page + Int.random(in: 0..<110, using: &random), data.count - 1)
  }
}
