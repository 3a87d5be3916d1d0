import TestSupport

/// Access control lists by Python, which needs no package for them.
enum AccessLists {
  /// The functions that scripts share. A list is the text of acl(5), short form, as getfacl prints it.
  private static let functions = """
    import os, struct, sys
    tags = {"u": (1, 2), "g": (4, 8), "m": (16, 16), "o": (32, 32)}
    def write(path, text, name="access"):
        entries = []
        for entry in text.split(","):
            kind, owner, rights = entry.split(":")
            bits = sum(4 >> "rwx".index(letter) for letter in rights if letter != "-")
            entries.append((tags[kind][1 if owner else 0], bits, int(owner) if owner else 0xffffffff))
        os.setxattr(path, "system.posix_acl_" + name,
                    struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in sorted(entries)))
    def read(path):
        try: data = os.getxattr(path, "system.posix_acl_access")
        except OSError: return ""
        names = {number: (kind, index) for kind, pair in tags.items() for index, number in enumerate(pair)}
        result = []
        for start in range(4, len(data), 8):
            tag, bits, owner = struct.unpack("<HHI", data[start:start + 8])
            kind, index = names[tag]
            index = 1 if owner != 0xffffffff else 0
            rights = "".join(letter if bits & 4 >> place else "-" for place, letter in enumerate("rwx"))
            result.append(f"{kind}:{owner if index else ''}:{rights}")
        return ",".join(result)
    """

  static let areKept: Bool = {
    guard let folder = try? TemporaryFolder() else { return false }
    return (try? python("write('.', 'u::rwx,u:7:rwx,g::r-x,m::rwx,o::---', 'default')", in: folder)) != nil
  }()

  static func python(_ script: String, in folder: TemporaryFolder) throws -> String {
    try Programs.python(functions + "\n" + script, in: folder)
  }
}
