import Foundation

/// What one process took.
struct Measurement {
  var seconds: Double
  var cpuSeconds: Double
  var peakMegabytes: Double
}

/// Runs a program to its end and takes the system's own account of it.
enum MeasuredProcess {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// - Throws: `Failure` when the program can't be started or does not end with status 0.
  static func run(_ command: [String]) throws -> Measurement {
    var process = pid_t()
    var arguments = command.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
    let clock = ContinuousClock()
    let begin = clock.now
    let code = posix_spawnp(&process, command[0], &actions, nil, &arguments, environ)
    guard code == 0 else { throw Failure(description: "\(command[0]): \(String(cString: strerror(code)))") }
    var status: Int32 = 0
    var usage = rusage()
    while wait4(process, &status, 0, &usage) < 0 {
      guard errno == EINTR else { throw Failure(description: "waiting for \(command[0]) failed") }
    }
    let seconds = begin.duration(to: clock.now) / .seconds(1)
    guard status == 0 else {
      throw Failure(description: "\(command.joined(separator: " ")) ended with status \(status >> 8)")
    }
    return Measurement(
      seconds: seconds, cpuSeconds: time(usage.ru_utime) + time(usage.ru_stime),
      peakMegabytes: Double(usage.ru_maxrss) / 1024)
  }

  private static func time(_ value: timeval) -> Double { Double(value.tv_sec) + Double(value.tv_usec) / 1e6 }
}
