"""Write the numbers and the picture of docs/worked-example.md, from the code on the page.

.venv/bin/python -m tools.worked_example
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.support.worked_example import PAGE, PICTURE, make_example

_BLOCK = re.compile(r"```python\n(.*?)```(?:(\s+```text\n)(.*?)```)?", re.DOTALL)
_MARK = "\x1e"  # between the outputs of blocks


def main() -> None:
    """Run the page's code beside its dataset, and put what it prints and draws in place."""
    text = PAGE.read_text(encoding="utf-8")
    code = "".join(f"{block}\nprint('{_MARK}', end='')\n" for block, _, _ in _BLOCK.findall(text))
    with tempfile.TemporaryDirectory() as temporary:
        make_example(Path(temporary))
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=temporary, stdout=subprocess.PIPE, text=True, check=True
        )
        shutil.copy(Path(temporary) / "ranking.svg", PICTURE)
    outputs = iter(done.stdout.split(_MARK))

    def filled(found: "re.Match[str]") -> str:
        output = next(outputs)
        return f"```python\n{found[1]}```{found[2]}{output}```" if found[2] else found[0]

    PAGE.write_text(_BLOCK.sub(filled, text), encoding="utf-8")


if __name__ == "__main__":
    main()
