/// Something that is timed, by the name it has in the table. Stable: floors refer to it.
enum Subject: String, CaseIterable {
  case limitImport = "C limit"
  case importPlain = "surfjournal import"
  case importGzip = "surfjournal import, gzip"
  case importOneContext = "one context instead of three"
  case importObjectSets = "object sets in every didSave"
  case yardstickImport = "yardstick imp vtab=1 pipe=1 ckthread=1"
  case shellImport = "sqlite3 .import, unchecked texts"
  case pythonImport = "Python csv + sqlite3, checked"
  case duckDBImport = "DuckDB read_csv, typed, into its own table"
  case sqliteUtilsImport = "sqlite-utils insert, unchecked texts"

  case limitImportOneThread = "C loader, one thread"
  case limitImportByRow = "C loader, one thread, bind and step"
  case importOneCore = "surfjournal import on one core"

  case keyedSkip = "key, skip, empty store"
  case keyedUpdate = "key, update, empty store"
  case keyedSkipFull = "key, skip, store of as many"
  case keyedUpdateFull = "key, update, store of as many"

  case limitLinked = "C loader, names of spots in a hash"
  case importLinked = "surfjournal import, linked to spots"
  case importUnlinked = "the same with names as texts"

  case limitCheck = "C parser, one thread"
  case yardstickCheck = "yardstick parse level=2"
  case validate = "surfjournal validate"

  case limitExport = "C cursor"
  case export = "surfjournal export"
  case exportGzip = "surfjournal export, gzip"
  case gzipAlone = "gzip -6 of the finished file alone"
  case yardstickExport = "yardstick exp order=pk page=cursor"
  case shellExport = "sqlite3 -csv, ISO dates"

  case limitExportByDate = "C cursor, sorting"
  case exportByDate = "surfjournal export --sort date"

  case limitStep = "C cursor, stepping only"
  case walkObjects = "streaming fetch of objects"
  case walkBatches = "walk over packed batches"

  case limitInsertBooks = "C program, a statement for each book"
  case insertBooks = "books inserted one by one"
  case insertBooksOfProlificAuthors = "books inserted one by one, linked, 200 to an author"
  case limitInsertLinkedBooks = "C program, a statement for each book, linked, ten to an author"
  case insertLinkedBooks = "books inserted one by one, linked, ten to an author"

  case limitWalkLibrary = "C cursor over a join"
  case walkLibrary = "authors with prefetched books"

  case shellSubquery = "sqlite3 shell, counted sub-select"
  case subquery = "authors counted by SUBQUERY"

  case migrateByPolicy = "books migrated by a policy"

  case importTracked = "surfjournal import, history tracked"

  case limitDeleteAuthors = "C program, two DELETE statements"
  case deleteAuthors = "authors deleted with their books"

  case limitVersion = "C program --version"
  case version = "surfjournal --version"
  case limitVersionCold = "C program --version, cold"
  case versionCold = "surfjournal --version, cold"
  case importSmall = "surfjournal import of 100 records"

  case limitServerImport = "C program, COPY in binary form"
  case importServer = "surfjournal import into a server"
  case limitServerImportLarge = "C program, 50,000 rows in a transaction"
  case importServerLarge = "surfjournal import, 50,000 rows in a transaction"
  case shellServerImport = "psql copy, unchecked texts"
  case shellServerImportWithKey = "psql copy, unchecked texts, into a table with a key"
  case limitServerStep = "C program, binary cursor"
  case walkServerObjects = "streaming fetch of objects of a server"
  case walkServerBatches = "walk over packed batches of a server"
  case exportServer = "surfjournal export from a server"
  case shellServerExport = "COPY to a file, ISO dates"

  case limitImportLong = "C limit, ten times the records"
  case importLong = "surfjournal import, ten times the records"
  case exportByDateLong = "surfjournal export --sort date, ten times the records"
}
