import Foundation
import TestSupport
import Testing

/// `surfjournal diff` against a model in Python, which reads the files with csv and the store with sqlite3.
@Suite struct DiffModelTests {
  /// Makes two random tables, and compares them by brute force with what the program printed.
  private static let model = #"""
    import collections, csv, datetime, json, random, sqlite3, sys

    NAMES = ["date", "height", "period", "wind", "location", "rating"]
    KEYS = [[], ["location"], ["date", "location"], ["location", "wind"], ["wind"], ["rating", "date"]]
    TEXTS = ["", "", "a", "A", "é", "e\u0301", "two words", 'say "no"', "x,y", "one\ntwo", "0", "\u6ce2"]

    def make(seed):
        random.seed(seed)
        def row():
            return {
                "date": f"2014-07-{random.randint(1, 9):02}T07:30:00Z", "height": random.choice(TEXTS),
                "period": random.choice(TEXTS), "wind": random.choice(TEXTS), "location": random.choice(TEXTS),
                "rating": random.choice(["", "1", "2", "3", "3", "9"])}
        old = [row() for _ in range(random.choice([0, 1, 5, 40, 200]))]
        new = []
        for entry in old + [row() for _ in range(random.choice([0, 1, 5, 40]))]:
            fate = random.random()
            if fate < 0.2: continue
            entry = dict(entry)
            if fate < 0.4:
                name = random.choice(NAMES[1:])
                entry[name] = random.choice(["1", "2"] if name == "rating" else TEXTS)
            new += [entry] * random.choice([1, 1, 1, 2])
        if random.random() < 0.5: random.shuffle(new)
        columns = random.sample(NAMES, len(NAMES))
        if random.random() < 0.3: columns.remove(random.choice(["height", "period"]))
        for name, rows, header in [("old.csv", old, NAMES), ("new.csv", new, columns)]:
            with open(name, "w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, header, extrasaction="ignore", lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)
        json.dump({"key": random.choice(KEYS)}, open("key.json", "w"))

    def values(row):
        entry = {name: text or None for name, text in row.items()}
        if entry["rating"] is not None: entry["rating"] = int(entry["rating"])
        return entry

    def file_entries(name):
        text = open(name, newline="", encoding="utf-8").read()
        lines = text.split("\n")
        reader, line, entries = csv.reader(open(name, newline="", encoding="utf-8")), 1, []
        header = next(reader)
        number = 0
        for fields in reader:
            line, end = line + 1, reader.line_num
            entry, start, line = values(dict(zip(header, fields))), line, end
            number += 1
            if entry["rating"] in (None, 1, 2, 3, 4, 5): entries.append((start, number, entry))
        return header, entries

    def store_entries(name):
        epoch = datetime.datetime(2001, 1, 1)
        entries = []
        for key, date, *rest in sqlite3.connect(name).execute(
                "SELECT Z_PK, ZDATE, ZHEIGHT, ZPERIOD, ZWIND, ZLOCATION, ZRATING FROM ZJOURNALENTRY ORDER BY Z_PK"):
            iso = (epoch + datetime.timedelta(seconds=date)).strftime("%Y-%m-%dT%H:%M:%SZ")
            entries.append((None, key, dict(zip(NAMES, [iso] + rest))))
        return NAMES, entries

    def expected(old_side, new_side, key):
        (old_names, old), (new_names, new) = old_side, new_side
        names = [name for name in NAMES if name in old_names and name in new_names]
        others = [name for name in names if name not in key]
        result, pick = [], lambda entry, chosen: {name: entry[name] for name in chosen}
        def place(entry, prefix=""):
            line, number, _ = entry
            if line is None: return {"oldEntry": number}
            return {"oldLine": line, "oldRecord": number} if prefix else {"line": line, "record": number}
        if not key:
            whole = lambda entry: tuple(entry[2][name] for name in names)
            left, taken = collections.Counter(map(whole, old)), collections.Counter()
            for entry in new:
                if taken[whole(entry)] < left[whole(entry)]: taken[whole(entry)] += 1
                else: result.append({"kind": "added", "side": "new", "new": pick(entry[2], names), **place(entry)})
            for entry in old:
                if taken[whole(entry)] > 0: taken[whole(entry)] -= 1
                else: result.append({"kind": "missing", "side": "old", "old": pick(entry[2], names), **place(entry, "old")})
            return result
        def identity(entry):
            found = tuple(entry[2][name] for name in key)
            return None if all(value is None for value in found) else found
        olds, news = collections.defaultdict(list), collections.defaultdict(list)
        for entry in old: olds[identity(entry)].append(entry)
        for entry in new: news[identity(entry)].append(entry)
        def twice(found): return found is not None and (len(olds.get(found, [])) > 1 or len(news.get(found, [])) > 1)
        for entry in new:
            found, line = identity(entry), {"key": pick(entry[2], key), **place(entry)}
            if twice(found): result.append({"kind": "duplicate", "side": "new", **line})
            elif found is None or found not in olds:
                result.append({"kind": "added", "side": "new", "new": pick(entry[2], others), **line})
            else:
                before = olds[found][0]
                differing = [name for name in others if before[2][name] != entry[2][name]]
                if differing:
                    result.append({
                        "kind": "changed", "side": "both", "old": pick(before[2], differing),
                        "new": pick(entry[2], differing), **line, **place(before, "old")})
        for entry in old:
            found, line = identity(entry), {"key": pick(entry[2], key), **place(entry, "old")}
            if twice(found): result.append({"kind": "duplicate", "side": "old", **line})
            elif found is None or found not in news:
                result.append({"kind": "missing", "side": "old", "old": pick(entry[2], others), **line})
        return result

    def check(old, output, key):
        old_side = store_entries("s") if old == "store" else file_entries("old.csv")
        new_side = file_entries("new.csv")
        wanted = expected(old_side, new_side, key)
        lines = [json.loads(line) for line in open(output, encoding="utf-8")]
        found = [line for line in lines if line["kind"] not in ("rejected", "warning", "counts")]
        for left, right in zip(wanted, found):
            if left != right: print("wanted", left, "found", right)
        if len(wanted) != len(found): print("wanted", len(wanted), "found", len(found))
        counts = lines[-1]
        of = collections.Counter((line["kind"], line["side"]) for line in wanted)
        said = {
            "newEntries": len(new_side[1]), "oldEntries": len(old_side[1]), "added": of["added", "new"],
            "changed": of["changed", "both"], "missing": of["missing", "old"],
            "duplicatesOld": of["duplicate", "old"], "duplicatesNew": of["duplicate", "new"],
            "unchanged": len(new_side[1]) - of["added", "new"] - of["changed", "both"] - of["duplicate", "new"]}
        for name, count in said.items():
            if counts[name] != count: print(name, "wanted", count, "found", counts[name])

    if sys.argv[1] == "make": make(int(sys.argv[2]))
    else: check(sys.argv[1], sys.argv[2], json.load(open("key.json"))["key"])
    """#

  private static let pipeline = #"{"extends": "surf-log", "name": "p", "limits": {"keysInMemoryMax": 20}}"#

  @Test(.seeded, arguments: Randomness.seeds(6, long: 200))
  func `Every difference of random tables is the model's, between files and with a store`(_ seed: UInt64) throws {
    let folder = try TemporaryFolder()
    _ = try Programs.python(Self.model, "make", "\(seed)", in: folder)
    let chosen = try JSONDecoder().decode([String: [String]].self, from: folder.data("key.json"))
    let key = try #require(chosen["key"])
    // A few keys in memory and small chunks, so that keys move to the temporary database and back.
    try folder.write(Self.pipeline, to: "p.json")
    let reading = seed % 2 == 0 ? ["--chunk-rows", "7", "--pipeline", "p.json"] : []
    let options = (key.isEmpty ? [] : ["--key", key.joined(separator: ",")]) + reading + ["--json"]
    let imported = try Tool.run("import", "old.csv", "--store", "s", "-q", "--rejects", "r.csv", in: folder)
    #expect([0, 65].contains(imported.status), "\(imported.messages)")
    for (old, arguments) in [("file", ["old.csv", "new.csv"]), ("store", ["new.csv", "--store", "s"])] {
      let output = try Programs.run(Tool.url.path, ["diff"] + arguments + options, in: folder)
      #expect([0, 65].contains(output.status), "seed \(seed): \(output.messages)")
      try output.bytes.write(to: folder.file("\(old).jsonl"))
      let mistakes = try Programs.python(Self.model, old, "\(old).jsonl", in: folder)
      #expect(mistakes.isEmpty, "seed \(seed), \(old), key \(key): \(mistakes)")
    }
  }
}
