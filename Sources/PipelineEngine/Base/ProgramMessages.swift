import Foundation

/// What a program says on standard error: its beginning is kept, and the rest is read and dropped. A program may say any
/// amount, and neither waits for a reader nor fills a disk.
struct ProgramMessages {
  /// The program's end of the pipe, which is closed here when the program has it.
  let writing: Int32
  private let reading: Int32
  private var kept: [UInt8] = []
  private var isOver = false
  private var piece = [UInt8](repeating: 0, count: 64 << 10)

  /// How much is kept.
  private static let bytesMax = 1 << 10

  init() throws(ProgramFailure) {
    let pipe = try ProgramPipe()
    (reading, writing) = (pipe.reading, pipe.writing)
    _ = fcntl(reading, F_SETFL, O_NONBLOCK)
  }

  func close() { _ = Foundation.close(reading) }

  /// Waits until the program says something, at most so long, and reads it.
  mutating func read(waiting milliseconds: Int32) {
    // Negative descriptors are ignored: the wait is the same when all is said.
    var look = pollfd(fd: isOver ? -1 : reading, events: Int16(POLLIN), revents: 0)
    guard poll(&look, 1, milliseconds) > 0 else { return }
    let count = Foundation.read(reading, &piece, piece.count)
    if count > 0 {
      kept += piece.prefix(min(count, Self.bytesMax - kept.count))
    } else if count == 0 || ![EAGAIN, EINTR].contains(errno) {
      isOver = true
    }
  }

  /// The first line. The last word of a line that is longer than what is kept may be the beginning of a secret, which would
  /// not be recognised.
  ///
  /// Called when the program has ended: what it has said last may not be read yet.
  mutating func firstLine() -> String {
    var before = -1
    while !isOver, kept.count > before {
      before = kept.count
      read(waiting: 0)
    }
    guard var line = String(decoding: kept, as: UTF8.self).split(separator: "\n").first else { return "" }
    if kept.count == Self.bytesMax, !kept.drop(while: { $0 == UInt8(ascii: "\n") }).contains(UInt8(ascii: "\n")) {
      line = line.lastIndex(where: \.isWhitespace).map { line[..<$0] } ?? ""
    }
    return line.isEmpty ? "" : ": \(RawText.oneLine(String(line)))"
  }
}
