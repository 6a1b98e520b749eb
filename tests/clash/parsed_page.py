"""The page of a report, parsed without a browser."""

import base64
import json
import zlib
from html.parser import HTMLParser

import numpy as np
from scipy.spatial.transform import Rotation


class Parsed(HTMLParser):
    """The elements, scripts and text of a page."""

    def __init__(self, path):
        super().__init__(convert_charrefs=True)
        self.source = path.read_text(encoding="utf-8")
        self.tags, self.scripts, self._open, self.text = [], [], "", ""
        self.feed(self.source)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._open = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        self._open = ""

    def handle_data(self, data):
        if self._open == "script":
            self.scripts[-1] += data
        elif self._open != "style":
            self.text += data

    @property
    def data(self):
        return json.loads(self.scripts[0])

    @property
    def rows(self):
        """Return the findings, unpacked from their blocks."""
        rows = []
        for line in self.scripts[1].split():
            columns = json.loads(unpacked(line))
            columns |= {f"told {name}": column for name, column in columns.pop("told").items()}
            rows += [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        return rows

    def bodies(self):
        """Return the triangle corners (n, 3) of each part, None if the page has none, and all boxes."""
        data, first, *chunks = self.data, *map(unpacked, self.scripts[2].split())
        count, ends = len(data["names"]), np.cumsum([0, 24 * len(data["names"]), 28 * len(data["names"])])
        boxes = np.frombuffer(first[: ends[1]], "<f4").reshape(count, 2, 3)
        poses = np.frombuffer(first[ends[1] : ends[2]], "<f4").reshape(count, 7).astype(float)
        after = ends[2] + 12 * len(data["ids"])
        which = np.frombuffer(first[after : after + 4 * count], "<i4")
        assert len(first) == after + 5 * count
        shapes, sizes = [], iter(data["shapes"])
        for number, chunk in zip(data["chunks"], chunks, strict=True):
            block_sizes = [next(sizes) for _ in range(number)]
            points = np.split(np.frombuffer(chunk[: 12 * sum(n for n, _ in block_sizes)], "<f4").reshape(-1, 3),
                              np.cumsum([n for n, _ in block_sizes])[:-1])  # fmt: skip
            indices = np.split(np.frombuffer(chunk[12 * sum(n for n, _ in block_sizes) :], "<u4"),
                               np.cumsum([n for _, n in block_sizes])[:-1])  # fmt: skip
            shapes += [p[i].astype(float) for p, i in zip(points, indices, strict=True)]
        turned = lambda k: Rotation.from_quat(poses[k, :4]).apply(shapes[which[k]]) + poses[k, 4:]  # noqa: E731
        return [turned(k) if which[k] >= 0 else None for k in range(count)], boxes


def unpacked(text):
    return zlib.decompress(base64.b64decode(text))
