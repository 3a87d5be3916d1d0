"""Settings of the manual's generator, Sphinx. `make docs` runs it."""
import os
import re

from pygments.lexers.configs import IniLexer
from pygments.lexers.javascript import JavascriptLexer
from pygments.lexers.special import TextLexer
from sphinx.highlighting import lexers

project = "SurfJournal"
author = "the SurfJournal authors"
html_title = "SurfJournal"
extensions = ["myst_parser", "sphinx_copybutton"]
source_suffix = {".md": "markdown"}
exclude_patterns = []
suppress_warnings = []

# Links to headings have the anchors that forges give them.
myst_heading_anchors = 4
myst_html_meta = {"description": "SurfJournal imports surf logs from CSV into Core Data stores on Linux."}

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["manual.css"]
html_show_copyright = False
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
html_last_updated_fmt = None
html_theme_options = {"top_of_page_button": None}

# A prompt is shown and not copied.
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True
copybutton_remove_prompts = True

for name in ("systemd-service", "systemd-timer"):
    lexers[name] = IniLexer()
lexers["json5"] = JavascriptLexer()
for name in ("csv", "crontab", "logrotate"):
    lexers[name] = TextLexer()
os.environ.setdefault("SOURCE_DATE_EPOCH", "0")


def add_dark_colours(app, failure):
    """Debian's Furo has its dark colours for a chosen theme only; a browser that prefers dark gets them too."""
    path = os.path.join(app.outdir, "_static", "styles", "furo.css")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    dark = re.search(r'body\[data-theme="dark"\] \{([^}]*)\}', text)
    if failure or "prefers-color-scheme" in text or not dark:
        return
    with open(path, "a", encoding="utf-8") as file:
        file.write(
            '\n@media not print and (prefers-color-scheme: dark) {\n  body:not([data-theme="light"]) {' + dark[1] + "}\n}\n")


def setup(app):
    app.connect("build-finished", add_dark_colours)
