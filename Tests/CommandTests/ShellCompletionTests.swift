import Foundation
import TestSupport
import Testing

/// What appears on the line when a person types the tab key: the shells themselves, on a terminal.
@Suite(.serialized) struct ShellCompletionTests {
  private let folder: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    try folder.makeFolder("bin")
    try FileManager.default.createSymbolicLink(
      atPath: folder.path("bin/surfjournal"), withDestinationPath: Tool.url.path)
    try folder.write("date\n", to: "my logs.csv")
    try folder.makeFolder("Pipelines")
    try folder.write(#"{"extends": "surf-log", "name": "own"}"#, to: "Pipelines/own.json")
    try SurfModel.write(to: folder)
  }

  /// Types a line and a tab, then a key that prints the line. The shell's start file prints `ready` when it can type.
  private static let typist = """
    import os, pty, select, subprocess, sys, time
    typed, arguments = sys.argv[1], sys.argv[2:]
    ours, theirs = pty.openpty()
    process = subprocess.Popen(arguments, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
    os.close(theirs)
    seen, end = b"", time.monotonic() + 60
    def wait_for(word):
        global seen
        while word not in seen and time.monotonic() < end:
            if select.select([ours], [], [], 0.2)[0]:
                seen += os.read(ours, 65536)
        assert word in seen, repr(seen[-400:])
        seen = seen.split(word, 1)[1]
    wait_for(b"ready")
    os.write(ours, typed.encode() + b"\\t")
    # The key after it is handled when the completion is done.
    os.write(ours, b"\\x18")
    wait_for(b"<<")
    line, end = b"", time.monotonic() + 60
    while b">>" not in seen and time.monotonic() < end:
        seen += os.read(ours, 65536)
    process.kill()
    process.wait()
    sys.stdout.write(seen.split(b">>", 1)[0].decode())
    """

  /// The line after the tab key, in a shell.
  private func complete(_ typed: String, in shell: String) throws -> String {
    let path = "\(folder.path("bin")):/usr/bin:/bin"
    let settings = ["PATH=\(path)", "HOME=\(folder.url.path)", "TERM=dumb", "LC_ALL=C.UTF-8"]
    let environment = ["env"] + EmptyEnvironment.arguments(settings)
    let start: [String]
    if shell == "bash" {
      let script = Repository.path("Packaging/completions/surfjournal.bash")
      try folder.write(
        """
        PS1=
        . '\(script)'
        show() { printf '<<%s>>' "$READLINE_LINE"; }
        bind -x '"\\C-x": show' 2>/dev/null
        printf ready
        """, to: ".bashrc")
      start = ["bash", "--rcfile", ".bashrc", "-i"]
    } else {
      try folder.write(
        """
        PS1=
        fpath=('\(Repository.path("Packaging/completions"))' $fpath)
        autoload -U compinit && compinit -u -D
        show() { print -rn -- "<<$BUFFER>>" }
        zle -N show
        bindkey '^X' show
        zle-line-init() { print -n ready; zle -D zle-line-init }
        zle -N zle-line-init
        """, to: ".zshrc")
      start = ["zsh", "-i"]
    }
    return try Programs.output(of: ["python3", "-c", Self.typist, typed] + environment + start, in: folder)
  }

  @Test(arguments: ["bash", "zsh"])
  func `A tab completes commands, options, values, pipelines and files`(_ shell: String) throws {
    #expect(try complete("surfjournal prev", in: shell) == "surfjournal preview ")
    #expect(try complete("surfjournal import --chu", in: shell) == "surfjournal import --chunk-rows ")
    #expect(try complete("surfjournal import --log-level w", in: shell) == "surfjournal import --log-level warning ")
    #expect(try complete("surfjournal run ow", in: shell) == "surfjournal run own ")
    #expect(try complete(#"surfjournal import my"#, in: shell) == #"surfjournal import my\ logs.csv "#)
    let model = "surfjournal list --model \(SurfModel.name) --entity"
    #expect(try complete("\(model) Sess", in: shell) == "\(model) Session ")
  }

  @Test(arguments: ["bash", "zsh"])
  func `A value after an equals sign is completed where it stands`(_ shell: String) throws {
    let level = "surfjournal import --log-level="
    #expect(try complete("\(level)w", in: shell).hasPrefix("\(level)warning"))
    let report = "surfjournal import x.csv --report=my"
    #expect(try complete(report, in: shell).hasPrefix(#"surfjournal import x.csv --report=my\ logs.csv"#))
  }

  @Test(arguments: ["bash", "zsh"])
  func `A name from a model is a word, whatever characters it has`(_ shell: String) throws {
    try folder.makeFolder("Odd.xcdatamodel")
    try folder.write(
      #"<model><entity name="Car;touch${IFS}x"><attribute name="a" optional="YES" attributeType="String"/></entity></model>"#,
      to: "Odd.xcdatamodel/contents")
    let line = try complete("surfjournal list --model Odd.xcdatamodel --entity C", in: shell)
    #expect(line.contains(#"Car\;touch"#), "\(line)")
    #expect(!line.contains("touch$"), "\(line)")
  }

  /// fish prints what it would offer.
  private func offered(_ typed: String) throws -> [String] {
    let script = """
      set -x PATH '\(folder.path("bin"))' /usr/bin /bin
      source '\(Repository.path("Packaging/completions/surfjournal.fish"))'
      complete -C '\(typed)'
      """
    let home = ["env", "HOME=\(folder.url.path)", "XDG_CONFIG_HOME=\(folder.url.path)", "LC_ALL=C.UTF-8"]
    let output = try Programs.output(of: home + ["fish", "--no-config", "-c", script], in: folder)
    return output.split(separator: "\n").map { String($0.split(separator: "\t")[0]) }
  }

  @Test func `fish offers the same`() throws {
    #expect(try offered("surfjournal prev") == ["preview"])
    #expect(try offered("surfjournal import --chu") == ["--chunk-rows"])
    #expect(try offered("surfjournal import --log-level w") == ["warning"])
    #expect(try offered("surfjournal run ow") == ["own"])
    #expect(try offered("surfjournal import my") == ["my logs.csv"])
    #expect(try offered("surfjournal import --log-level=w") == ["--log-level=warning"])
    #expect(try offered("surfjournal list --model \(SurfModel.name) --entity Sess") == ["Session"])
  }
}
