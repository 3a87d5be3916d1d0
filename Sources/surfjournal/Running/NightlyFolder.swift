import Foundation
import PipelineEngine

/// The folder of a nightly import: its folders, pipeline, and units, as `surfjournal init` makes them.
struct NightlyFolder {
  /// Its absolute path.
  let path: String
  /// The user that the units run the program as.
  let user: String
  /// The absolute path of the program.
  let program: String

  static let folders = ["inbox", "rejects", "reports", "units"]

  /// The files, by their paths in the folder.
  var files: [(path: String, text: String)] {
    [
      ("nightly.json", Self.pipeline),
      ("units/surfjournal.service", service), ("units/surfjournal.timer", Self.timer),
      ("units/surfjournal.path", pathUnit), ("units/surfjournal.logrotate", rotation),
      ("units/crontab", crontab),
    ]
  }

  /// What does not exist yet is made; what exists stays as it is.
  ///
  /// - Returns: The paths in the folder that were made, and those that were there.
  func make() throws(CommandFailure) -> (made: [String], kept: [String]) {
    var (made, kept): ([String], [String]) = ([], [])
    for folder in [""] + Self.folders.map({ $0 + "/" }) {
      let target = folder.isEmpty ? path : "\(path)/\(folder.dropLast())"
      let isNew = mkdir(target, 0o777) == 0
      if !isNew, errno != EEXIST { throw failure(folder) }
      var isFolder: ObjCBool = false
      guard FileManager.default.fileExists(atPath: target, isDirectory: &isFolder), isFolder.boolValue else {
        throw CommandFailure("\(target) is not a folder; remove it, or choose another place", .cannotCreate)
      }
      if !folder.isEmpty { if isNew { made.append(folder) } else { kept.append(folder) } }
    }
    for file in files {
      let target = "\(path)/\(file.path)"
      if Self.stays(target) {
        kept.append(file.path)
        continue
      }
      do throws(RunFailure) {
        try WholeFile.write(Array(file.text.utf8), to: target, permissions: 0o666)
      } catch {
        throw CommandFailure(error.message, error.exitCode)
      }
      made.append(file.path)
    }
    return (made, kept)
  }

  /// Whether something has the path, a link too. An empty pipeline does not count: no run can use it, and a program that
  /// was killed has left it. An empty unit may be a masked one.
  private static func stays(_ target: String) -> Bool {
    var status = stat()
    guard lstat(target, &status) == 0 else { return false }
    return status.st_mode & S_IFMT != S_IFREG || status.st_size > 0 || !target.hasSuffix(".json")
  }

  private func failure(_ item: String) -> CommandFailure {
    let code = errno
    let target = item.isEmpty ? path : "\(path)/\(item)"
    return CommandFailure(
      "\(target) can't be made: \(String(cString: strerror(code)))",
      code == EACCES || code == EPERM ? .noPermission : .cannotCreate)
  }

  // MARK: Texts

  static let pipeline = """
    // The nightly import of the files in inbox/. Paths start at this file's folder.
    // surfjournal check nightly.json explains it; man surfjournal-pipeline lists what can be said.
    {
      "extends": "surf-log",
      "name": "nightly",
      "description": "Every night: what arrived in the inbox goes into the journal.",
      // A file that was changed less than 30 seconds ago waits for the next run.
      "inbox": { "folder": "inbox", "settleSeconds": 30 },
      // The files of the definition that this one extends are not its own.
      "source": null,
      "store": "journal.sqlite",
      // A record that the store has already is left out.
      "changedInputs": "onlyNew",
      // If a fifth of the records is rejected, the run stops, so that the file can be looked at first.
      "errorBudget": { "percent": 20 },
      "rejects": "rejects/",
      // Each run has a page of its own, and reports/index.html lists all of them.
      "report": ["reports/{date}-{run}.html", "reports/nightly.json", "reports/nightly.prom"],
      // What waits for a correction is never removed.
      "retention": { "reports": { "days": 400 }, "processed": { "days": 90 } },
      // Who hears of it. Try it with: surfjournal notify nightly.json
      // A ping from the service needs PrivateNetwork=no and RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 there.
      // "notify": {
      //   "mails": [{ "to": "me@example.org" }],
      //   "ping": { "url": { "file": "secrets/ping" } }
      // },
      "log": "run.log",
      "timeoutSeconds": 7200
    }

    """

  var crontab: String {
    """
    # Install it with `crontab -e` as the user that owns the folder. Cron mails what a job writes: with --quiet
    # there is a mail only if something is wrong.
    MAILTO=\(user)
    PATH=/usr/local/bin:/usr/bin:/bin
    15 3 * * * \(program) run \(path)/nightly.json --quiet

    """
  }

  var service: String {
    """
    [Unit]
    Description=Import the night's surf logs
    RequiresMountsFor=\(path)

    [Service]
    Type=oneshot
    User=\(user)
    WorkingDirectory=\(path)
    ExecStart=\(program) run nightly.json --log -
    # Stopped or locked out: what is done is kept, and the next run continues.
    SuccessExitStatus=75
    # The first signal ends the run at the next chunk; SIGKILL follows only when that takes too long.
    KillSignal=SIGTERM
    TimeoutStopSec=120
    Nice=10
    IOSchedulingClass=idle
    # Others may read the reports, such as a program that collects the figures.
    UMask=0022
    # A pipeline needs its own folder and nothing else.
    ReadWritePaths=\(path)
    NoNewPrivileges=yes
    CapabilityBoundingSet=
    ProtectSystem=strict
    \(isInHome ? "ProtectHome=no" : "ProtectHome=yes")
    ProtectProc=invisible
    ProtectClock=yes
    ProtectHostname=yes
    ProtectControlGroups=yes
    ProtectKernelLogs=yes
    ProtectKernelModules=yes
    ProtectKernelTunables=yes
    PrivateTmp=yes
    PrivateDevices=yes
    PrivateNetwork=yes
    RestrictAddressFamilies=AF_UNIX
    RestrictNamespaces=yes
    RestrictRealtime=yes
    RestrictSUIDSGID=yes
    LockPersonality=yes
    MemoryDenyWriteExecute=yes
    SystemCallArchitectures=native
    SystemCallFilter=@system-service

    """
  }

  /// systemd hides these folders from a unit with `ProtectHome=yes`.
  private var isInHome: Bool {
    ["home", "root", "run/user"].contains { folder in
      [path, program].contains { "\($0)/".hasPrefix("/\(folder)/") }
    }
  }

  static let timer = """
    [Unit]
    Description=Import surf logs every night

    [Timer]
    OnCalendar=*-*-* 03:15:00
    # A run that was missed while the machine was off is made up for.
    Persistent=true
    RandomizedDelaySec=5min

    [Install]
    WantedBy=timers.target

    """

  var pathUnit: String {
    """
    # Starts the import as soon as a file arrives, in addition to the timer or instead of it. It needs
    # "settleSeconds": 0 in nightly.json, for a file that is left for later is not announced again; senders have to
    # rename complete files into the inbox.
    [Unit]
    Description=Import surf logs when they arrive

    [Path]
    PathChanged=\(path)/inbox
    Unit=surfjournal.service

    [Install]
    WantedBy=paths.target

    """
  }

  var rotation: String {
    """
    \(path)/run.log {
        su \(user) \(user)
        monthly
        rotate 24
        compress
        delaycompress
        missingok
        notifempty
        nocreate
    }

    """
  }
}
