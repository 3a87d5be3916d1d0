import Foundation
import TestSupport
import Testing

/// Entries that lead to others of their own entity by several relationships, two of which lead to one entry each. A player
/// in Python reads which records were rejected, and says whether each had to be.
@Suite(.seeded) struct LateOwnerTests {

  private static let entities = """
    <entity name="Rider">
      <attribute name="name" optional="YES" attributeType="String"/>
      <relationship name="boss" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Rider" inverseName="crew" inverseEntity="Rider"/>
      <relationship name="crew" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Rider" inverseName="boss" inverseEntity="Rider"/>
      <relationship name="next" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Rider" inverseName="previous" inverseEntity="Rider"/>
      <relationship name="partner" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Rider" inverseName="partner" inverseEntity="Rider"/>
      <relationship name="previous" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Rider" inverseName="next" inverseEntity="Rider"/>
    </entity>
    """

  private func makeFolder(chunkRows: Int = 5000) throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    try LateModel.write("Crew.xcdatamodel", entities: Self.entities, to: folder)
    try folder.write(Self.player, to: "play.py")
    try folder.write(
      """
      { "name": "riders", "model": "Crew.xcdatamodel", "entity": "Rider", "store": "s.sqlite",
        "chunkRows": \(chunkRows), "key": "name", "duplicates": "update", "missingColumns": "ignore",
        "columns": ["name",
          { "name": "boss", "attribute": "boss.name", "link": { "ifMissing": "reject" } },
          { "name": "next", "attribute": "next.name", "link": { "ifMissing": "reject" } },
          { "name": "partner", "attribute": "partner.name", "link": { "ifMissing": "reject" } }] }
      """, to: "p.json")
    return folder
  }

  /// With `write` it writes three files. With `check` and the rejected records of each file it prints every record that was
  /// rejected or accepted without reason, and where the accepted ones lead.
  private static let player = """
    import csv, random, sys
    if sys.argv[1] == "write":
        random.seed(int(sys.argv[2]))
        names = [f"R{n:02}" for n in range(16)]
        for file in ["a.csv", "b.csv", "c.csv"]:
            with open(file, "w", newline="") as out:
                out = csv.writer(out)
                out.writerow(["name", "boss", "next", "partner"])
                for name in random.sample(names, 12):
                    others = [other for other in names if other != name]
                    pick = lambda share: random.choice(others) if random.random() < share else ""
                    out.writerow([name, pick(0.3), pick(0.5), pick(0.4)])
        sys.exit()

    class State:
        def __init__(self, other=None):
            self.boss = dict(other.boss) if other else {}
            self.next = dict(other.next) if other else {}
            self.partner = dict(other.partner) if other else {}
            self.said = set()  # pairs that records of this file have named
        def conflict(self, name, next, partner):
            if next and any(n == next and owner != name for owner, n in self.next.items()): return True
            mine = self.partner.get(name)
            if partner and self.partner.get(partner, name) != name: return True
            return bool(partner) and mine not in (None, partner) and mine + name in self.said
        def take(self, name, boss, next, partner):
            is_new = name not in self.boss
            self.boss[name], self.next[name] = boss, next
            if is_new and not partner: return  # it says nothing against a record that has named it
            mine = self.partner.pop(name, None)
            if mine: self.partner.pop(mine, None)
            if partner:
                self.partner[name], self.partner[partner] = partner, name
                self.said.add(name + partner)

    state = State()
    for file, rejected in zip(["a.csv", "b.csv", "c.csv"], sys.argv[2:]):
        rejected = {int(number) for number in rejected.split()}
        records = list(enumerate(list(csv.reader(open(file)))[1:], 1))
        stored = set(state.boss)

        def refused(number, accepted):
            present = stored | {record[0] for n, record in records if n in accepted}
            play = State(state)
            for n, (name, boss, next, partner) in records:
                if n == number:
                    wrong = any(w and w not in present | {name} for w in (boss, next, partner))
                    return wrong or play.conflict(name, next, partner)
                if n in accepted: play.take(name, boss, next, partner)

        def touched(name, next, partner):
            objects = {("next", next), ("next", state.next.get(name)), ("partner", partner), ("partner", name)}
            return {o for o in objects | {("partner", state.partner.get(name))} if o[1]}

        def dependent(number):
            # Records that lead to the new entry of this one or come later and want what it has or had, and so on.
            open_records, found = [number], set()
            while open_records:
                first = open_records.pop()
                (own, _, *wants) = records[first - 1][1]
                for n, (name, boss, *other) in records:
                    leads = own in (boss, *other) and own not in stored
                    if n not in found | {number, first} and (
                            leads or n > first and touched(own, *wants) & touched(name, *other)):
                        found.add(n)
                        open_records.append(n)
            return found

        accepted = {n for n, _ in records} - rejected
        for n, record in records:
            reasons = refused(n, accepted)
            if n in accepted and reasons: print(file, n, "had to be rejected")
            # Of records that depend on one another in a circle, any can be the rejected one.
            if n in rejected and not reasons and not refused(n, accepted | dependent(n) & rejected):
                print(file, n, "was rejected without reason")
        for n, record in records:
            if n in accepted: state.take(*record)
        state.said = set()
    for name in sorted(state.boss):
        print("|".join([name, state.boss[name], state.next[name], state.partner.get(name, "")]))
    """

  private func player(_ arguments: String..., in folder: TemporaryFolder) throws -> String {
    let output = try Programs.run("/usr/bin/python3", ["play.py"] + arguments, in: folder)
    #expect(output.status == 0, "\(output.messages)")
    return output.text
  }

  @Test(arguments: [1, 4, 5000])
  func `A record is rejected only for what accepted records have`(_ chunkRows: Int) throws {
    for seed in Randomness.seeds(2, long: 60) {
      let folder = try makeFolder(chunkRows: chunkRows)
      _ = try player("write", "\(seed)", in: folder)
      var rejected: [String] = []
      for name in ["a.csv", "b.csv", "c.csv"] {
        let output = try Tool.run("import", name, "--pipeline", "p.json", "--json", in: folder)
        let summary = try output.json()
        #expect(Set(summary.issues.counts.keys).isSubset(of: ["taken-object", "missing-object"]), "\(output.text)")
        rejected.append(summary.issues.listed.map { "\($0.record)" }.joined(separator: " "))
      }
      let rows = try Programs.sqlite(
        "s.sqlite",
        """
        SELECT r.ZNAME, coalesce(b.ZNAME, ''), coalesce(n.ZNAME, ''), coalesce(p.ZNAME, '') FROM ZRIDER r
          LEFT JOIN ZRIDER b ON b.Z_PK = r.ZBOSS LEFT JOIN ZRIDER n ON n.Z_PK = r.ZNEXT
          LEFT JOIN ZRIDER p ON p.Z_PK = r.ZPARTNER ORDER BY 1
        """, in: folder)
      #expect(try rows == player("check", rejected[0], rejected[1], rejected[2], in: folder), "seed \(seed)")
      #expect(try Tool.run("verify", "s.sqlite", "--model", "Crew.xcdatamodel", in: folder).status == 0)
    }
  }

  @Test func `What a rejected record named is free, over each of its relationships`() throws {
    let folder = try makeFolder()
    try folder.write("name,next,partner\na,x,p\nb,x,q\nc,y,q\nd,y,\nx,,\ny,,\np,,\nq,,\n", to: "a.csv")
    let output = try Tool.run("import", "a.csv", "--pipeline", "p.json", "--json", in: folder)
    #expect(try output.json().issues.listed.map(\.record) == [2, 4], "\(output.text)")
    // Its former partner was given up by the record that names another one.
    try folder.write("name,next,partner\na,x,q\nb,,p\nc,y,\n", to: "b.csv")
    #expect(try Tool.run("import", "b.csv", "--pipeline", "p.json", "--json", in: folder).status == 65)
    try folder.write("name,next,partner\nc,y,\na,x,q\nb,,p\n", to: "c.csv")
    let moved = try Tool.run("import", "c.csv", "--pipeline", "p.json", "--json", in: folder)
    #expect(moved.status == 0, "\(moved.text)")
  }
}
