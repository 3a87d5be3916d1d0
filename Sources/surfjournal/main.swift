import CMalloc
import Foundation
import PipelineEngine

// If the caller closed a standard stream, a store could get its descriptor number and be written to as the stream.
for descriptor: Int32 in 0...2 where fcntl(descriptor, F_GETFD) == -1 {
  _ = open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY)
}
// A closed reader is an error of the write, not the end of the process.
signal(SIGPIPE, SIG_IGN)
// The same holds for a file that exceeds the file size limit.
signal(SIGXFSZ, SIG_IGN)

// Chunks are allocated and freed by the hundred: returning their memory to the system after each would cost page
// faults for the next.
mallopt(M_MMAP_THRESHOLD, 64 << 20)
mallopt(M_TRIM_THRESHOLD, 64 << 20)

let words = Program.arguments
StoreLocation.hidePasswordsOfArguments()
switch Program.prepare(words) {
case .done(let code):
  exit(code.rawValue)
case .work(let command):
  // Detached, because the main thread serves the main queue, which view contexts use.
  Task.detached { exit(await command.runToEnd().rawValue) }
  RunLoop.main.run()
}
