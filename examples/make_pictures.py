"""Make all pictures of the gallery: run every example, and compress its picture."""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

FOLDER = Path(__file__).parent
EXAMPLES = sorted(file for file in FOLDER.glob("*.py") if not file.stem.startswith("make_"))


def shrink(source, folder):
    """Save a picture in a small file: that of the README as PNG, which every viewer shows, the others as WebP."""
    drawn = Image.open(source)
    image = drawn.convert("RGB")
    if source.stem == "hero":
        target = folder / "hero.png"
        # the octree keeps the colours of small objects such as arrows, and the median cut does not
        image.quantize(256, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(target, optimize=True)
    else:
        target = folder / f"{source.stem}.webp"
        image.save(target, quality=90, method=6, lossless=drawn.mode == "P")  # with few colours, lossless is smaller
    return target


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "names", nargs="*", help="examples to run, by default all: " + ", ".join(f.stem for f in EXAMPLES)
    )
    parser.add_argument("--out", type=Path, default=FOLDER / "pictures", help="folder for the pictures")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for example in EXAMPLES:
        if arguments.names and example.stem not in arguments.names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, example, "--out", folder], check=True, stdout=subprocess.DEVNULL)
            for picture in sorted(Path(folder).glob("*.png")):
                target = shrink(picture, arguments.out)
                print(f"{target}: {target.stat().st_size / 1000:.0f} kB")
