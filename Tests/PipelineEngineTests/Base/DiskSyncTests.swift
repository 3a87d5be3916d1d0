import Foundation
import TestSupport
import Testing

@testable import PipelineEngine

@Suite("A file that the disk did not take is an error")
struct DiskSyncTests {
  private func outcome(_ descriptors: [Int32]) -> Int? {
    let sync = DiskSync(descriptors)
    sync.start()
    return sync.wait().map(Int.init)
  }

  @Test func `What can't be synced, such as a pipe, hides no error of another file, in either order`() throws {
    let pipe = Pipe()
    let descriptor = pipe.fileHandleForWriting.fileDescriptor
    // A descriptor that is not open fails, as one does whose disk fails.
    #expect(outcome([-1, descriptor]) == Int(EBADF))
    #expect(outcome([descriptor, -1]) == Int(EBADF))
  }

  @Test func `Files and pipes that take everything are not an error`() throws {
    let folder = try TemporaryFolder()
    _ = try folder.write("wave", to: "file")
    let file = try FileHandle(forUpdating: folder.file("file"))
    let pipe = Pipe()
    #expect(outcome([file.fileDescriptor, pipe.fileHandleForWriting.fileDescriptor]) == nil)
    #expect(outcome([]) == nil)
  }
}
