extension PageStyle {
  /// Tables, the chart of runs, and the foot.
  static let tables: Markup = """
    .grid { font-size: .9375rem; margin: 0 0 1rem; font-variant-numeric: tabular-nums; }
    .grid th, .grid td { padding: .5rem .9rem .5rem 0; text-align: left; }
    .grid thead th { font-size: .875rem; padding-top: 0; }
    .grid .number { text-align: right; white-space: nowrap; }
    .grid th:last-child, .grid td:last-child { padding-right: 0; }
    .grid tbody th { font-weight: 550; min-width: 6rem; }
    .grid .when { white-space: nowrap; }
    .grid .bound { display: -webkit-inline-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3; min-width: 5.5rem; max-width: 13rem; overflow: hidden; overflow-wrap: anywhere; vertical-align: bottom; }
    .grid .frequent { display: inline-block; min-width: 9rem; }
    .grid .about { font-size: .875rem; font-weight: 400; }
    .grid .bad strong { color: var(--bad); font-weight: 600; }
    .grid .idle { color: var(--soft); }
    .grid .idle th { font-weight: 400; }
    .mark { display: inline-block; width: 1.1em; text-align: center; color: var(--good); font-weight: 700; }
    .warnings .mark, .stopped .mark, .cancelled .mark, .mark.care { color: var(--care); }
    .errors .mark, .failed .mark, .mark.bad { color: var(--bad); }
    .idle .mark { color: var(--soft); }
    a { color: var(--sea); text-underline-offset: .15em; }
    a:focus-visible { outline: 2px solid var(--sea); outline-offset: 2px; border-radius: .2rem; }
    .title { font-weight: 600; }
    .runs { display: block; }
    .runs .base { stroke: var(--soft); stroke-opacity: .55; }
    .runs .hit { fill: transparent; }
    .runs .bar { fill: var(--part1); }
    .runs .bar.last { fill: var(--sea); }
    .runs .refused { fill: var(--part5); }
    .runs .failed { stroke: var(--bad); stroke-width: 2.2; fill: none; stroke-linecap: round; }
    .runs g:hover .bar { opacity: .75; }
    .span { display: flex; justify-content: space-between; color: var(--soft); font-size: .8125rem; }
    section > .note + .grid { margin-top: .9rem; }
    .hashes { list-style: none; margin: 0 0 1rem; padding: 0; }
    footer { border-top: 1px solid var(--line); }
    """

  /// Tables on a narrow screen: a card for each row.
  static let cards: Markup = """
    .grid thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
      .grid, .grid tbody, .grid tr, .grid th, .grid td { display: block; width: auto; }
      .grid tr { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; padding: .6rem .9rem; margin-bottom: .6rem; }
      .grid th, .grid td { border: 0; padding: .15rem 0; }
      .grid td { display: flex; justify-content: space-between; gap: 1rem; text-align: right; }
      .grid td::before { content: attr(data-label); color: var(--soft); text-align: left; flex: none; }
      .grid td:empty { display: none; }
      .grid .cell { min-width: 0; }
      .grid .number { white-space: normal; }
    """
}
