/// The style sheet of the page, which needs no other file: system fonts, colours for light mode, dark mode and print.
enum PageStyle {
  static let sheet: Markup = """
    :root {
      color-scheme: light dark;
      --paper: #f6f7f8; --card: #ffffff; --ink: #1b2429; --soft: #56646c; --line: #e2e7ea;
      --sea: #1d7390; --sea-soft: #d5e8ef; --mist: #edf1f3;
      --good: #1c7a4d; --care: #966000; --bad: #b3372f;
      --part0: #1d7390; --part1: #4a8fb0; --part2: #7b8b94; --part3: #a3812f; --part4: #8a6fb0; --part5: #b3372f;
    }
    @media (prefers-color-scheme: dark) {
      :root {
        --paper: #11171a; --card: #192125; --ink: #e6ecee; --soft: #9aa9b1; --line: #2a353b;
        --sea: #6bbdd6; --sea-soft: #23414c; --mist: #222c31;
        --good: #63c794; --care: #e0b25c; --bad: #f08a80;
        --part0: #6bbdd6; --part1: #4a90ad; --part2: #7f919b; --part3: #b39a55; --part4: #a78bd0; --part5: #f08a80;
      }
    }
    * { box-sizing: border-box; }
    html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
    body {
      margin: 0; background: var(--paper); color: var(--ink);
      font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", sans-serif;
      font-variant-numeric: tabular-nums; overflow-wrap: anywhere;
    }
    main, footer { max-width: 62rem; margin: 0 auto; padding: 0 1.5rem; }
    h1, h2, h3, p, dl, dd, ol, figure { margin: 0; }
    h2 { font-size: 1.05rem; font-weight: 650; letter-spacing: -.005em; margin: 0 0 1rem; }
    h3 { font-size: 1rem; font-weight: 650; }
    section { margin-top: 3rem; }
    .note, .about, .when, footer { color: var(--soft); font-size: .875rem; }
    .path, code, .code {
      font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: .875em;
    }

    .verdict { --tone: var(--good); padding-top: 3.5rem; }
    .verdict.warnings, .verdict.stopped, .verdict.cancelled { --tone: var(--care); }
    .verdict.errors, .verdict.failed { --tone: var(--bad); }
    .eyebrow { color: var(--soft); font-weight: 550; }
    .dot { opacity: .6; padding: 0 .15em; }
    h1 {
      display: flex; align-items: center; gap: .8rem; margin: .5rem 0 .6rem;
      font-size: clamp(1.8rem, 1.3rem + 2.2vw, 2.6rem); font-weight: 680; line-height: 1.15; letter-spacing: -.022em;
    }
    .icon { flex: none; width: 1em; height: 1em; }
    .icon circle { fill: var(--tone); }
    .icon path { fill: none; stroke: var(--paper); stroke-width: 2.8; stroke-linecap: round; stroke-linejoin: round; }
    .lede { font-size: 1.125rem; max-width: 44rem; }
    .when { margin-top: 1rem; }
    .notice {
      margin-top: 1.1rem; padding: .85rem 1.1rem; max-width: 46rem; background: var(--card);
      border: 1px solid var(--line); border-left: 4px solid var(--tone, var(--bad)); border-radius: .5rem;
    }
    .notice strong { display: block; font-size: .8rem; font-weight: 600; color: var(--soft); }

    .equation { display: flex; flex-wrap: wrap; gap: 1rem 0; align-items: baseline; }
    .term { display: flex; flex-direction: column; min-width: 5.2rem; }
    .term dd { font-size: 1.7rem; font-weight: 620; line-height: 1.2; letter-spacing: -.015em; }
    .term dt { color: var(--soft); font-size: .875rem; order: 2; }
    .term + .term { position: relative; margin-left: 2.6rem; }
    .term + .term::before {
      content: "+"; position: absolute; left: -1.7rem; top: .1rem; font-size: 1.25rem; color: var(--soft);
    }
    .term.read + .term::before { content: "="; }
    .term.none dd { color: var(--soft); font-weight: 450; }
    .term dt::before {
      content: ""; display: inline-block; width: .6em; height: .6em; border-radius: .15em; margin-right: .4em;
    }
    .term.read dt::before { display: none; }
    .part0 dt::before { background: var(--part0); } .part1 dt::before { background: var(--part1); }
    .part2 dt::before { background: var(--part2); } .part3 dt::before { background: var(--part3); }
    .part4 dt::before { background: var(--part4); } .part5 dt::before { background: var(--part5); }
    .sum { display: block; margin: 1.25rem 0 .75rem; border-radius: 6px; }
    .sum .part0 { fill: var(--part0); } .sum .part1 { fill: var(--part1); } .sum .part2 { fill: var(--part2); }
    .sum .part3 { fill: var(--part3); } .sum .part4 { fill: var(--part4); } .sum .part5 { fill: var(--part5); }
    .sum rect { stroke: var(--paper); }

    .facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(8rem, 1fr)); gap: 1rem 1.5rem; margin-top: 1.5rem; padding-top: 1.25rem; border-top: 1px solid var(--line); }
    footer .facts { border-top: 0; margin: 0 0 1rem; padding-top: 1.5rem; }
    .facts dt, .files dt { color: var(--soft); font-size: .875rem; }
    .facts dd { font-weight: 550; }

    .group { background: var(--card); border: 1px solid var(--line); border-radius: .75rem; margin-top: .75rem; }
    .group { --tone: var(--bad); }
    .group.warning { --tone: var(--care); }
    .group > * { padding-left: 1.25rem; padding-right: 1.25rem; }
    summary { cursor: pointer; }
    .group h3 { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 .75rem; padding-top: .85rem; padding-bottom: .2rem; }
    summary:focus-visible { outline: 2px solid var(--sea); outline-offset: 2px; border-radius: .5rem; }
    .group .count { min-width: 1.6em; font-weight: 650; font-size: 1.2rem; color: var(--tone); }
    .group .code { font-size: .8rem; font-weight: 400; color: var(--soft); }
    .group .kind { color: var(--soft); font-size: .875rem; font-weight: 400; }
    .explanation { color: var(--soft); padding-bottom: .75rem; max-width: 48rem; }
    .group .examples { list-style: none; padding: 0; }
    .examples li {
      display: grid; grid-template-columns: 7rem 7rem minmax(0, 1fr); gap: 0 1.25rem; padding: .55rem 1.25rem;
      border-top: 1px solid var(--line); font-size: .9375rem;
    }
    .location { color: var(--soft); }
    .column { font-weight: 550; }
    .said code { background: var(--mist); border-radius: .3em; padding: .1em .4em; white-space: pre-wrap; margin-right: .4em; -webkit-box-decoration-break: clone; box-decoration-break: clone; }
    .group > .more { padding: 0; border-top: 1px solid var(--line); }
    .more summary { color: var(--soft); font-size: .875rem; padding: .6rem 1.25rem; }
    .group .note { padding-top: .7rem; padding-bottom: .9rem; border-top: 1px solid var(--line); }
    section > .note { margin-top: .9rem; }

    .figures { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 1rem; align-items: start; }
    figure { background: var(--card); border: 1px solid var(--line); border-radius: .75rem; padding: 1.25rem; min-width: 0; }
    figure.months { grid-column: 1 / -1; }
    figcaption { margin-bottom: 1rem; }
    figcaption p { color: var(--soft); font-size: .875rem; }
    figure svg { display: block; }
    figure svg text { font-size: 12px; fill: var(--soft); }
    .columns { overflow: visible; }
    \(axes)
    .columns .grid { stroke: var(--line); }
    .columns .base { stroke: var(--soft); stroke-opacity: .55; }
    .columns .tick { text-anchor: end; }
    .columns .label, .columns .number { text-anchor: middle; }
    .columns .number, .rows .count { fill: var(--ink); }
    .bar { fill: var(--sea); }
    .columns g:hover .bar { opacity: .75; }
    figure .rows .name { font-size: 14px; fill: var(--ink); }
    figure .rows .count { font-size: 14px; text-anchor: end; }
    .track { fill: var(--mist); }
    .table { margin-top: 1rem; font-size: .875rem; }
    .table summary { color: var(--soft); width: fit-content; }
    table { border-collapse: collapse; width: 100%; margin-top: .6rem; }
    th, td { text-align: left; padding: .3rem 0; border-bottom: 1px solid var(--line); font-weight: 400; vertical-align: top; }
    thead th { color: var(--soft); }
    .table th:last-child, .table td:last-child { text-align: right; padding-left: 1rem; white-space: nowrap; }

    .files { display: grid; gap: .6rem; }
    .files div { display: grid; grid-template-columns: 5rem minmax(0, 1fr); gap: 1rem; align-items: baseline; }
    .files .about { margin-left: .5rem; }
    footer { margin-top: 3.5rem; padding-bottom: 3rem; }
    \(tables)

    @media (max-width: 44rem) {
      main, footer { padding: 0 1.1rem; }
      .verdict { padding-top: 2rem; }
      section { margin-top: 2.4rem; }
      .figures { grid-template-columns: minmax(0, 1fr); }
      .equation { flex-direction: column; gap: .3rem; align-items: stretch; }
      .term, .term + .term { flex-direction: row; justify-content: space-between; align-items: baseline; margin-left: 0; }
      .term dd { order: 2; font-size: 1.15rem; }
      .term dt { font-size: 1rem; order: 1; }
      .term.read { border-bottom: 1px solid var(--line); padding-bottom: .35rem; }
      .term.read dt { color: var(--ink); font-weight: 600; }
      .term + .term::before { display: none; }
      .examples li { display: flex; flex-wrap: wrap; gap: .1rem .75rem; }
      .said { flex: 1 0 100%; }
      .group > * { padding-left: 1rem; padding-right: 1rem; }
      .examples li { padding: .6rem 1rem; }
      .more summary { padding: .6rem 1rem; }
      .files div { grid-template-columns: minmax(0, 1fr); gap: 0; }
      .files .about { display: block; margin-left: 0; }
      .columns .minor, .columns.dense .number { display: none; }
      \(cards)
    }
    @media print {
      :root {
        --paper: #fff; --card: #fff; --ink: #000; --soft: #444; --line: #ccc; --sea: #1d7390; --mist: #eee;
        --good: #1c7a4d; --care: #966000; --bad: #b3372f;
        --part0: #1d7390; --part1: #4a8fb0; --part2: #7b8b94; --part3: #a3812f; --part4: #8a6fb0; --part5: #b3372f;
      }
      body { font-size: 10.5pt; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
      main, footer { max-width: none; padding: 0; }
      .verdict { padding-top: 0; }
      section { margin-top: 1.6rem; }
      details::details-content { content-visibility: visible; block-size: auto; }
      .table { display: none; }
      .group > .more { border-top: 0; }
      .more summary { display: none; }
      figure, .examples li, .notice, .grid tr { break-inside: avoid; }
      h2, h3 { break-after: avoid; }
    }
    """

  /// The margin to the left of an axis for numbers with that many characters.
  private static let axes: [Markup] = (1...11).map { digits in
    ".columns.axis\(digits) { margin-left: \(digits * 7 + 12)px; width: calc(100% - \(digits * 7 + 12)px); }\n"
  }
}
