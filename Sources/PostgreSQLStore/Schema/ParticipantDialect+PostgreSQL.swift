import PersistentStores

extension ParticipantDialect {
  /// PostgreSQL's. It keeps names without quotation marks in lower case.
  package static let postgreSQL = ParticipantDialect(
    words: [
      "INTEGER": "bigint", "REAL": "double precision", "TEXT": "text COLLATE \"C\"", "BLOB": "bytea", "WITHOUT": "",
      "ROWID": "",
    ]
  ) { names in
    "SELECT c.relname::text, CASE WHEN c.relkind IN ('r', 'p') THEN 'table' ELSE 'other' END FROM pg_class c "
      + "WHERE c.oid = to_regclass(quote_ident(c.relname)) AND c.relkind IN ('r', 'p', 'v', 'm', 'f') "
      + "AND c.relname IN (SELECT lower(name) FROM unnest(ARRAY[\(names)]) AS name)"
  }
}
