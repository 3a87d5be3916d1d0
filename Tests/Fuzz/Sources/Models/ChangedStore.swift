import CZlib
import Foundation
import PersistentStores

/// A store of which an input chooses the original, the part that is changed, and the changes.
enum ChangedStore {
  static let folder: URL = {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("fuzz-\(ProcessInfo.processInfo.processIdentifier)", isDirectory: true)
    try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }()

  /// An input for each part of each store.
  static func seeds(_ stores: Int) -> [[UInt8]] {
    (0..<stores).flatMap { store in (0..<3).map { [UInt8(store), UInt8($0), 1, 0, 7] } }
  }

  static func run(_ originals: [Data], _ input: inout FuzzInput) {
    let file = folder.appendingPathComponent("store.sqlite")
    for ending in ["", "-wal", "-shm"] { unlink(file.path + ending) }
    let original = input.choice(of: originals)
    do {
      switch input.number(below: 3) {
      case 0: try changed(original, &input).write(to: file)
      case 1:
        try change("Z_METADATA", column: "Z_PLIST", of: original, at: file, &input) {
          $0
        } into: {
          $0
        }
      default:
        try change("Z_MODELCACHE", column: "Z_CONTENT", of: original, at: file, &input) {
          inflated($0)
        } into: {
          deflated($0)
        }
      }
    } catch { return }
    // A reader without locks waits for a file that was written in the last moment to be older.
    var times = [timeval(tv_sec: 1_000_000_000, tv_usec: 0), timeval(tv_sec: 1_000_000_000, tv_usec: 0)]
    guard utimes(file.path, &times) == 0, let before = try? Data(contentsOf: file) else { return }
    StoreUse.use(file)
    if (try? Data(contentsOf: file)) != before { broken("reading does not change a store") }
  }

  /// Bytes set at positions that the input names.
  private static func changed(_ data: Data, _ input: inout FuzzInput) -> Data {
    var bytes = Array(data)
    while !input.isEmpty, !bytes.isEmpty {
      let place = Int(input.byte()) << 16 | Int(input.byte()) << 8 | Int(input.byte())
      bytes[place % bytes.count] = input.byte()
    }
    return Data(bytes)
  }

  private static func change(
    _ table: String, column: String, of original: Data, at file: URL, _ input: inout FuzzInput,
    from unpack: (Data) -> Data, into pack: (Data) -> Data
  ) throws {
    try original.write(to: file)
    let connection = try SQLiteConnection(path: file.path, mode: .readWrite)
    defer { connection.close() }
    // The file need not survive a power cut, and has no other user.
    try connection.execute("PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE")
    guard case .blob(let content)? = try connection.rows("SELECT \(column) FROM \(table)").first?.first else { return }
    try connection.run("UPDATE \(table) SET \(column) = ?", [.blob(pack(changed(unpack(content), &input)))])
    try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
  }

  // MARK: Raw deflate

  static func inflated(_ data: Data) -> Data {
    var stream = z_stream()
    inflateInit2_(&stream, -15, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    defer { inflateEnd(&stream) }
    return output(of: &stream, data, bytesMax: 64 << 10) { inflate(&$0, Z_FINISH) }
  }

  static func deflated(_ data: Data) -> Data {
    var stream = z_stream()
    deflateInit2_(&stream, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    defer { deflateEnd(&stream) }
    return output(of: &stream, data, bytesMax: data.count + 1024) { deflate(&$0, Z_FINISH) }
  }

  private static func output(
    of stream: inout z_stream, _ data: Data, bytesMax: Int, _ run: (inout z_stream) -> Int32
  ) -> Data {
    var input = Array(data)
    var output = [UInt8](repeating: 0, count: bytesMax)
    input.withUnsafeMutableBufferPointer { input in
      output.withUnsafeMutableBufferPointer { output in
        stream.next_in = input.baseAddress
        stream.avail_in = UInt32(input.count)
        stream.next_out = output.baseAddress
        stream.avail_out = UInt32(output.count)
        _ = run(&stream)
      }
    }
    return Data(output.prefix(Int(stream.total_out)))
  }
}
