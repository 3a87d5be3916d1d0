/// The head of a page that loads nothing from elsewhere.
struct PageHead {
  let title: String
  /// Rules in addition to those of the style sheet, each on a line of its own.
  var rules: Markup = ""
  /// Further elements, each on a line of its own.
  var additions: Markup = ""

  /// From the document type to the end of the head.
  var markup: Markup {
    """
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <meta name="referrer" content="no-referrer">
    <link rel="icon" href="data:,">
    \(additions)\
    <title>\(title)</title>
    <style>
    \(PageStyle.sheet)
    \(rules)</style>
    </head>
    """
  }
}
