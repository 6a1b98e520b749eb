"""Check a gearbox as CI does: find clashes, accept some by rules, and list those that are new since the last report."""

import argparse
import sys
from pathlib import Path

import numpy as np

import gjk3d as gk

MODEL = Path(__file__).parents[1] / "data" / "gearbox.glb"
ACCEPTED = [
    gk.clash.Rule("label", "label_copy", "the second label is only shown", ("duplicate",)),
    gk.clash.Rule("housing", "pad_*", "pads are glued on"),
]


def print_findings(report):
    """Print the findings that count, except touching faces, and the number of findings of each status."""
    for clash in report.clashes:
        if clash.is_open and clash.kind != "touch":
            a, b = (name.rpartition("/")[2] for name in (clash.a, clash.b))
            sign = "≤ " if clash.distance_kind == "bound" else ""
            gap = f"{'depth' if clash.distance < 0 else 'gap'} {sign}{1e3 * abs(clash.distance):.4f} mm"
            print(f"{clash.severity:>4} {clash.kind:<10} {a:<12} {b:<12} {gap:<19} {clash.status}")
    counts = ", ".join(f"{count} {status}" for status, count in report.statuses.items() if count)
    print(f"     all findings, with touches: {counts}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the picture")
    out = parser.parse_args().out
    gearbox = gk.clash.Assembly.load(MODEL)
    print(f"{MODEL.name}: {len(gearbox.parts)} parts. Rules accept a pad and a copy of the label.")
    before = gk.clash.check(gearbox, ignore=ACCEPTED)
    print_findings(before)
    print("the shaft is cut back by 2 mm, and the cover is 1 mm lower:")
    meshes = {}
    for part in gearbox.parts:
        vertices, name = part.mesh.vertices.copy(), part.name.rpartition("/")[2]
        if name == "shaft_in":
            vertices[:, 2] = np.maximum(vertices[:, 2], vertices[:, 2].min() + 0.002)
        elif name == "cover":
            vertices[:, 1] -= 0.001
        meshes[part.name] = gk.Mesh(vertices, part.mesh.faces)
    after = gk.clash.check(gk.clash.Assembly.of(meshes, gearbox.unit), ignore=ACCEPTED, baseline=before)
    print_findings(after)
    out.mkdir(parents=True, exist_ok=True)
    new = next(clash for clash in after.clashes if clash.status == "new" and clash.kind != "touch")
    gk.viz.show(after, clash=new.id, title="New since the last report", path=out / "clash_report.png")
    print(f"picture: {out / 'clash_report.png'}", file=sys.stderr)
