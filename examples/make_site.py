"""Make the web site of the project: the gallery with live pages, the lessons, and the reference if pdoc is installed.

Each example is run with `gjk3d.viz` replaced by functions that also write the page of each picture.
"""

import argparse
import functools
import html
import importlib.util
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import gjk3d as gk
from gjk3d.viz.page import write_drawing
from gjk3d.viz.paint import drawn_in

FOLDER = Path(__file__).parent
REFERENCE = re.compile(r"^GJK3D_BUILTINS=0 python (-m pdoc(?:.*\\\n)*.*)$", re.MULTILINE)
#: Sections of the gallery's text: heading, description, and the alternative text of its picture.
SECTION = re.compile(
    r"^### (?P<title>[^\n`]+): `(?P<name>\w+)\.py`\n\n(?P<text>.*?)\n\n```.*?!\[(?P<alt>[^]]*)\]\((?P<picture>[^)]*)\)",
    re.MULTILINE | re.DOTALL,
)
#: Topics of the lessons, with a line for the gallery.
LESSONS = {
    "gjk": "GJK and EPA: every step with its pseudocode and numbers",
    "sat": "Separating axes: every axis with both projections, and the gap or the minimum translation",
    "bounds": "Bounding volumes: spheres, axis-aligned and oriented boxes of a shape that you rotate",
}
STYLE = """
:root { --ink: #202124; --soft: #565b61; --line: #d8dce1; --paper: #fff; --raise: #f3f5f8; --link: #0068a3; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8eaed; --soft: #a5abb3; --line: #3c4043; --paper: #1b1d20; --raise: #25282c; --link: #56b4e9; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1240px; padding: 24px 16px 60px; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, "Segoe UI", Roboto, Arial, sans-serif; }
a { color: var(--link); } :focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
nav ul { columns: 3 240px; padding-left: 20px; } article { border-top: 1px solid var(--line); padding: 8px 0 24px; }
pre { max-height: 330px; overflow: auto; padding: 12px; margin: 12px 0; background: var(--raise); border-radius: 8px;
  font-size: 13px; line-height: 1.4; }
.views { display: flex; flex-wrap: wrap; gap: 16px; } .views > * { flex: 1 1 460px; min-width: 0; margin: 0; }
img { display: block; max-width: 100%; height: auto; border-radius: 8px; background: #fff; }
iframe { width: 100%; height: 460px; border: 1px solid var(--line); border-radius: 8px; }
figcaption, .soft { color: var(--soft); font-size: 14px; } summary { cursor: pointer; }
"""


def run_with_pages(name, folder):
    """Run an example, and write the page of each of its pictures as NAME.html, NAME-1.html and so on."""
    viz, panels, count = gk.viz, {}, 0
    show, motion, plot, explain = viz.show, viz.motion, viz.plot, viz.explain

    def next_page():
        nonlocal count
        count += 1
        return folder / (f"{name}.html" if count == 1 else f"{name}-{count - 1}.html")

    @functools.wraps(show)
    def show_and_write(x, *, path=None, **options):
        if path is not None:
            show(x, path=next_page(), **options)
        return show(x, path=path, **options)

    @functools.wraps(motion)
    def motion_and_write(checker, path=None, target=None, **options):
        if target is not None:
            motion(checker, path, next_page(), **options)
        return motion(checker, path, target, **options)

    @functools.wraps(plot)
    def plot_and_write(x, plotter=None, *, path=None, **options):
        drawn = plot(x, plotter, path=path, **options)
        panel = id(drawn), drawn.renderers.active_index
        first = panel not in panels
        page = panels.setdefault(panel, None) or panels.update({panel: next_page()}) or panels[panel]
        # a single object has the page of its kind, several objects in a panel have one page
        if first:
            show(x, path=page, **{key: value for key, value in options.items() if key not in ("off_screen", "size")})
        else:
            write_drawing(drawn_in(drawn), page)
        return drawn

    @functools.wraps(explain)
    def explain_and_write(result, **options):
        explanation = explain(result, **options)
        explanation.save(next_page())
        return explanation

    viz.show, viz.motion, viz.plot, viz.explain = show_and_write, motion_and_write, plot_and_write, explain_and_write
    sys.argv = [name, "--out", str(folder)]
    sys.path.insert(0, str(FOLDER))
    runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")


def article(section, site):
    """Return the HTML of one example: its code, and below it the picture with the live pages next to it."""
    name, picture = section["name"], Path(section["picture"]).name
    (site / "pictures").mkdir(exist_ok=True)
    (site / "pictures" / picture).write_bytes((FOLDER / "pictures" / picture).read_bytes())
    code = html.escape((FOLDER / f"{name}.py").read_text(encoding="utf-8"))
    alt, text = (html.escape(" ".join(section[key].split())) for key in ("alt", "text"))
    text = re.sub("`([^`]+)`", r"<code>\1</code>", text)
    pages = sorted((site / "pages").glob(f"{name}*.html"), key=lambda page: (len(page.name), page.name))
    pages = [page for page in pages if re.fullmatch(rf"{name}(-\d+)?", page.stem)]
    title = html.escape(section["title"])
    live = "\n".join(
        f"<details><summary>live page {k + 1} of {title}</summary>\n"
        f'<iframe loading="lazy" src="pages/{page.name}" title="{title}, live page {k + 1}"></iframe></details>\n'
        f'<p class="soft"><a href="pages/{page.name}">open live page {k + 1} in a window</a></p>'
        for k, page in enumerate(pages)
    )
    return f"""<article id="{name}">
<h2>{title}</h2>
<p>{text}</p>
<pre tabindex="0" aria-label="code of {name}.py"><code>{code}</code></pre>
<div class="views">
<figure><img src="pictures/{picture}" alt="{alt}" loading="lazy"><figcaption>{alt}</figcaption></figure>
<div>{live or '<p class="soft">This example has no live page.</p>'}</div>
</div>
</article>"""


def write_gallery(site, names):
    """Write the gallery and return its path."""
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    sections = [found for found in SECTION.finditer(text) if not names or found["name"] in names]
    links = "\n".join(f'<li><a href="#{found["name"]}">{html.escape(found["title"])}</a></li>' for found in sections)
    reference = '<p><a href="reference/index.html">Reference of all public names</a></p>'
    articles = "\n".join(article(found, site) for found in sections)
    lessons = "\n".join(
        f'<li><a href="pages/lesson-{topic}.html">{html.escape(line)}</a></li>' for topic, line in LESSONS.items()
    )
    (site / "index.html").write_text(
        f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>gjk3d: gallery</title>
<style>{STYLE}</style>
</head>
<body>
<h1>gjk3d: gallery</h1>
<p>Each picture has its code above it and its live page next to it.</p>
{reference if (site / "reference" / "index.html").exists() else ""}
<nav aria-label="examples"><ul>
{links}
</ul></nav>
<main>
<article id="lessons">
<h2>Lessons</h2>
<ul>
{lessons}
</ul>
</article>
{articles}
</main>
</body>
</html>
""",
        encoding="utf-8",
    )
    return site / "index.html"


def write_reference(site):
    """Write the reference by the command of the README, if pdoc is installed."""
    if importlib.util.find_spec("pdoc") is None:
        print("no reference, because pdoc is not installed. Run pip install -e '.[docs]'", file=sys.stderr)
        return
    words = REFERENCE.search((FOLDER.parent / "README.md").read_text(encoding="utf-8"))[1].replace("\\\n", " ").split()
    words[words.index("--output-directory") + 1] = str(site / "reference")
    subprocess.run([sys.executable, *words], check=True, cwd=FOLDER.parent, env=os.environ | {"GJK3D_BUILTINS": "0"})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="examples to show, by default all")
    parser.add_argument("--out", type=Path, default=Path("site"), help="folder of the site")
    parser.add_argument("--no-reference", action="store_true", help="leave the reference out")
    parser.add_argument("--run", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run is not None:  # one example in a process of its own
        run_with_pages(arguments.names[0], arguments.run)
        sys.exit()
    site = arguments.out.resolve()
    (site / "pages").mkdir(parents=True, exist_ok=True)
    for name in arguments.names or [
        file.stem for file in sorted(FOLDER.glob("*.py")) if not file.stem.startswith("make_")
    ]:
        subprocess.run(
            [sys.executable, __file__, name, "--run", str(site / "pages")], check=True, stdout=subprocess.DEVNULL
        )
        (site / "pages" / f"{name}.png").unlink(missing_ok=True)
    for topic in LESSONS:
        gk.viz.lesson(site / "pages" / f"lesson-{topic}.html", topic)
    if not arguments.no_reference:
        write_reference(site)
    print(write_gallery(site, arguments.names), file=sys.stderr)
