import CMalloc
import Foundation

// A store opened under the number of a standard stream that the caller closed would be written to as one.
for descriptor: Int32 in 0...2 where fcntl(descriptor, F_GETFD) == -1 {
  _ = open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY)
}
// A reader that goes away is an error of the write it leaves hanging, not the end of the process.
signal(SIGPIPE, SIG_IGN)
// Likewise a file that grows over the limit that was set for it.
signal(SIGXFSZ, SIG_IGN)

// Chunks come and go by the hundred: memory that goes back to the system after each has to be made anew for the next.
mallopt(M_MMAP_THRESHOLD, 64 << 20)
mallopt(M_TRIM_THRESHOLD, 64 << 20)

switch Program.prepare(Program.arguments) {
case .done(let code):
  exit(code.rawValue)
case .work(let command):
  // Detached: the main thread belongs to the main queue, on which view contexts live.
  Task.detached { exit(await command.run().rawValue) }
  RunLoop.main.run()
}
