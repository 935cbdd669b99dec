"""Builds the source distribution: maturin's, with the files of the repository that it leaves out.

    python python/sdist.py OUT

maturin packs the library of the workspace's root without its modules, and nothing outside the crates.
"""

import gzip
import io
import subprocess
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: What the crates include from elsewhere in the repository, and targets that their manifests name.
OTHERS = ["src", "docs/openapi.json", "examples/*.rs", "tests/rules/*", "LICENSE-APACHE", "LICENSE-MIT"]


def main(out):
    maturin = [sys.executable, "-m", "maturin", "sdist", "--manifest-path", ROOT / "python/Cargo.toml", "--out", out]
    subprocess.run(maturin, check=True)
    path = max(out.glob("yomikiri-*.tar.gz"), key=lambda path: path.stat().st_mtime)
    listed = subprocess.run(["git", "ls-files", "--", *OTHERS], cwd=ROOT, check=True, capture_output=True, text=True)
    with tarfile.open(path) as old:
        held = [(member, old.extractfile(member).read()) for member in old if member.isfile()]
    top = held[0][0].name.split("/")[0]
    names = {member.name for member, _ in held}
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as new:
        for name in listed.stdout.splitlines():
            if f"{top}/{name}" not in names:
                content = (ROOT / name).read_bytes()
                member = tarfile.TarInfo(f"{top}/{name}")
                member.size, member.mtime = len(content), held[0][0].mtime
                held.append((member, content))
        for member, content in held:
            new.addfile(member, io.BytesIO(content))
    path.write_bytes(gzip.compress(packed.getvalue(), mtime=0))
    print(path)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
