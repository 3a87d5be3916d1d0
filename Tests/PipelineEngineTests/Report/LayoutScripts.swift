/// What scripts of the tests measure on a page.
enum LayoutScripts {
  /// The number of texts in the page's drawings, and those that lie over each other or reach out of the page.
  static let collisions = """
    (() => {
      const texts = [...document.querySelectorAll('svg text')].filter(e => getComputedStyle(e).display != 'none')
      const boxes = texts.map(e => ({ box: e.getBoundingClientRect(), text: e.textContent, of: e.ownerSVGElement }))
      const found = boxes.filter(b => b.box.left < -1 || b.box.right > innerWidth + 1).map(b => 'out: ' + b.text)
      boxes.forEach((a, i) => boxes.slice(i + 1).forEach(b => {
        const over = a.of == b.of && a.box.left < b.box.right && b.box.left < a.box.right && a.box.top < b.box.bottom \
          && b.box.top < a.box.bottom
        if (over) found.push(a.text + ' / ' + b.text)
      }))
      return boxes.length + ' texts, ' + found.join('; ')
    })()
    """

  /// How many colours the legend has, how many of them differ, whether all of the legend and of the bars have a contrast
  /// of 3 with what is behind them, and whether all words have one of 4.5, as WCAG computes it.
  static let contrast = """
    (() => {
      const channel = c => c / 255 <= .03928 ? c / 255 / 12.92 : ((c / 255 + .055) / 1.055) ** 2.4
      const luminance = c => { const p = c.match(/[0-9.]+/g).map(Number)
        return .2126 * channel(p[0]) + .7152 * channel(p[1]) + .0722 * channel(p[2]) }
      const ratio = (a, b) => { const l = [luminance(a), luminance(b)].sort((x, y) => y - x)
        return (l[0] + .05) / (l[1] + .05) }
      const all = selector => [...document.querySelectorAll(selector)]
      const paper = getComputedStyle(document.body).backgroundColor
      const card = getComputedStyle(document.querySelector('figure')).backgroundColor
      const legend = all('.term:not(.read) dt').map(e => getComputedStyle(e, '::before').backgroundColor)
      const bars = all('.sum rect, .runs .bar, .runs .refused').map(e => getComputedStyle(e).fill)
      const marks = all('.runs .failed').map(e => getComputedStyle(e).stroke)
      const figures = all('figure .bar').map(e => getComputedStyle(e).fill)
      const graphics = [...legend, ...bars, ...marks].map(c => ratio(c, paper))
        .concat(figures.map(c => ratio(c, card)))
      const words = all('.about, .note, .mark, .count, .code, a, .number, .location, .label, .tick').map(e => {
        let behind = e
        while (behind && getComputedStyle(behind).backgroundColor == 'rgba(0, 0, 0, 0)') behind = behind.parentElement
        const style = getComputedStyle(e)
        return ratio(e.ownerSVGElement ? style.fill : style.color,
          getComputedStyle(behind || document.body).backgroundColor)
      })
      return [legend.length, new Set(legend).size, Math.min(...graphics) >= 3, Math.min(...words) >= 4.5].join(' ')
    })()
    """

  /// The number of cells in tables, and of those whose words are broken because the cell is too narrow.
  static let brokenWords = """
    (() => {
      const cells = [...document.querySelectorAll('.grid tbody td')]
        .filter(e => e.textContent.trim().length > 6 && e.offsetHeight > 0)
      return cells.length + ' ' + cells.filter(e => e.getBoundingClientRect().width < 60).length
    })()
    """

  /// Whether every cell that is shown has the name of its column and is within the page, and the width of the head of the
  /// table, which is only for screen readers then.
  static let cards = """
    [...document.querySelectorAll('.grid tbody td')].filter(e => e.textContent.trim() && e.offsetHeight > 0)
      .every(e => getComputedStyle(e, '::before').content.length > 3 && e.getBoundingClientRect().right <= innerWidth)
      + ' ' + document.querySelector('.grid thead').getBoundingClientRect().width
    """
}
