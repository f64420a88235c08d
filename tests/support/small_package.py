"""A generated package with kernels at three levels, to be edited: `tiny`.

It is imported in this process again and again (`Tiny.load`), or run in another one (`Tiny.start`).
"""

import importlib
import json
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numba

from bideuchre_env.runtime import jit
from bideuchre_env.runtime.cache import KernelFiles
from bideuchre_env.runtime.stamps import Stamps, text_of_type

FILES = {
    "data.txt": "7",
    "__init__.py": "",
    "constants.py": '''"""Constants."""
import os
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple
import numpy as np
LIMIT = 10
FACTOR = 2.25
ZERO = 0.0
FLAGS = (1, 2, 3)
TABLE = np.array([1, 2, 3])
SMALL = np.float64(0.1)
CHOSEN = int(os.environ.get("TINY_CHOSEN", "4"))
FROM_DATA = int((Path(__file__).parent / "data.txt").read_text())
class Kind(IntEnum):
    """A kind."""
    A = 1
    B = 2
class Pair(NamedTuple):
    """Two numbers."""
    a: int
    b: int
AT = Pair(5, 6)
''',
    "derived.py": "from tiny import constants\nTRIPLE = constants.LIMIT * 3\n",
    "message.py": 'def complain():\n    raise ValueError("wrong")\n',
    "operators.py": '''"""An intrinsic."""
from numba import types
from numba.extending import intrinsic
class Emit:
    """Emits code."""
    SHIFT = 1
    def __init__(self, builder):
        self.builder = builder
    def go(self, context, x):
        """Emit."""
        return self.builder.shl(x, context.get_constant(types.int64, self.SHIFT))
def emit(context, builder, x):
    """Emit a doubled number."""
    return Emit(builder).go(context, x)
@intrinsic
def doubled(typing_context, x):
    """Double."""
    def build(context, builder, signature, args):
        return emit(context, builder, args[0])
    return types.int64(types.int64), build
''',
    "low.py": '''"""Low kernels."""
from bideuchre_env.runtime.jit import kernel, inline_kernel
from tiny import constants
from tiny.constants import LIMIT, FACTOR, FLAGS, TABLE, Kind, FROM_DATA, AT, SMALL, CHOSEN, ZERO
from tiny.derived import TRIPLE
from tiny.operators import doubled
from math import floor as rounded
# a comment
@kernel
def lowest(x):
    """Return the lowest."""
    return x * LIMIT + FLAGS[1] + 1
@kernel
def second(x):
    return x * FLAGS[0] - 1
@inline_kernel
def inlined(x):
    return x + TABLE[1] + AT.b
@kernel
def kinds(x):
    return x + (100 if x == Kind.B else 200)
@kernel
def from_data(x):
    return x + FROM_DATA + TRIPLE + CHOSEN
@kernel
def real(x):
    return rounded(x * FACTOR) + (1.0 / (x * ZERO) > 0.0) + SMALL + abs(-x)
@kernel
def by_module(x):
    return x + constants.LIMIT
@kernel
def steps(x, step=3):
    return x + step
@kernel
def twice(x):
    return doubled(x)
def factory(n):
    @kernel
    def made(x):
        return x + n
    return made
add_4, add_5 = factory(4), factory(5)
@kernel
def countdown(n):
    return 0 if n <= 0 else 1 + countdown(n - 1)
''',
    "middle.py": '''"""Kernels between."""
from bideuchre_env.runtime.jit import kernel
from tiny import low
from tiny.low import lowest as pick
from tiny.low import inlined, kinds, from_data, real, steps, twice, by_module, countdown
@kernel
def middle(x):
    return pick(x) + inlined(x)
@kernel
def others(x):
    return kinds(x) + from_data(x) + steps(x) + twice(x) + by_module(x) + countdown(x)
@kernel
def sums(x):
    return low.add_4(x) * 1000 + low.add_5(x)
''',
    "top.py": '''"""Entries."""
import numpy as np
from bideuchre_env.runtime.jit import entry_kernel
from tiny.constants import Pair
from tiny.middle import middle, others, real, sums
ROW = np.dtype([("x", np.int64), ("y", np.int64)])
@entry_kernel
def one(x):
    """Entry."""
    return middle(x)
@entry_kernel
def two(x):
    return others(x) + sums(x)
@entry_kernel
def three(x):
    return real(x)
@entry_kernel
def of_pair(pair):
    return pair.a * 1000 + pair.b
@entry_kernel
def of_row(rows):
    return rows[0].x * 1000 + rows[0].y
def arguments():
    return [3], [2], [2.0], [Pair(8, 9)], [np.array([(1, 2)], ROW)]
def outputs():
    called = one, two, three, of_pair, of_row
    return [float(each(*given)) for each, given in zip(called, arguments(), strict=True)]
''',
    "__main__.py": """import json
from bideuchre_env.runtime import jit
from tiny import top
def compiled():
    return sorted({each.py_func.__name__ for each in jit.KERNELS if each.stats.cache_misses})
print(json.dumps([top.outputs(), compiled()]))
""",
}
ENTRIES = "one", "two", "three", "of_pair", "of_row"
# what an edit changes: the kernels with other stamps or types, and all that call them
LIMIT = {"lowest", "middle", "one", "from_data", "by_module", "others", "two"}
LOWEST, INLINED = ({name, "middle", "one"} for name in ("lowest", "inlined"))
KINDS, DATA, STEPS, TWICE, MODULE = (
    {name, "others", "two"} for name in ("kinds", "from_data", "steps", "twice", "by_module")
)
REAL, SUMS = {"real", "three"}, {"made", "sums", "two"}
EDITS_THAT_MATTER = {
    "constant": ("constants.py", "LIMIT = 10", "LIMIT = 11", LIMIT),
    "tuple": ("constants.py", "(1, 2, 3)", "(1, 5, 3)", LOWEST | {"second"}),
    "array": ("constants.py", "[1, 2, 3]", "[1, 4, 3]", INLINED),
    "dtype of an array": ("constants.py", "[1, 2, 3]", "[1, 2.5, 3]", INLINED),
    "dtype of a number": ("constants.py", "np.float64(0.1)", "np.float32(0.1)", REAL),
    "member of an enum": ("constants.py", "B = 2", "B = 3", KINDS),
    "data file": ("data.txt", "7", "70", DATA),
    "derived constant": ("derived.py", "* 3", "* 4", DATA),
    "order of fields of a NamedTuple": (
        *("constants.py", "    a: int\n    b: int", "    b: int\n    a: int"),
        INLINED | {"of_pair"},
    ),
    "value of a NamedTuple": ("constants.py", "Pair(5, 6)", "Pair(5, 8)", INLINED),
    "order of fields of a dtype": (
        *("top.py", '("x", np.int64), ("y", np.int64)', '("y", np.int64), ("x", np.int64)'),
        {"of_row"},
    ),
    "kernel two levels down": ("low.py", "FLAGS[1] + 1", "FLAGS[1] + 2", LOWEST),
    "inlined kernel": ("low.py", "x + TABLE[1]", "x - TABLE[1]", INLINED),
    "attribute of a module": ("low.py", "x + constants.LIMIT", "x + constants.CHOSEN", MODULE),
    "intrinsic": ("operators.py", "emit(context, builder, args[0])", "builder.neg(args[0])", TWICE),
    "helper of an intrinsic": ("operators.py", "Emit(builder).go(context, x)", "x", TWICE),
    "class of an intrinsic": ("operators.py", "SHIFT = 1", "SHIFT = 2", TWICE),
    "method of an intrinsic": ("operators.py", "self.builder.shl", "self.builder.lshr", TWICE),
    "decorator": ("low.py", "@kernel\ndef lowest", "@inline_kernel\ndef lowest", LOWEST),
    "default argument": ("low.py", "step=3", "step=30", STEPS),
    "value in a closure": ("low.py", "factory(4)", "factory(40)", SUMS),
    "order of two closures": (
        *("low.py", "factory(4), factory(5)", "factory(5), factory(4)"),
        SUMS - {"made"},  # both have the code as before
    ),
    "body in a factory": ("low.py", "return x + n\n", "return x - n\n", SUMS),
    "other kernel of that name": (
        "middle.py",
        "lowest as pick",
        "second as pick",
        LOWEST - {"lowest"},
    ),
    "recursive kernel": (
        "low.py",
        "1 + countdown",
        "2 + countdown",
        {"countdown", "others", "two"},
    ),
    "function of a library": ("low.py", "floor as rounded", "ceil as rounded", REAL),
    "sign of zero": ("constants.py", "ZERO = 0.0", "ZERO = -0.0", REAL),
    "type of a constant": ("constants.py", "FACTOR = 2.25", "FACTOR = 3", REAL),
    "builtin": ("low.py", "# a comment", "@kernel\ndef abs(x):\n    return 50.0", REAL | {"abs"}),
    "entry": ("top.py", "return middle(x)", "return middle(x + 1)", {"one"}),
    "order of operands": (
        "top.py",
        "pair.a * 1000 + pair.b",
        "pair.b * 1000 + pair.a",
        {"of_pair"},
    ),
}
OTHER_EDITS = {
    "comment": ("low.py", "# a comment", "# another\n\n\n# and more"),
    "docstring of a kernel": ("low.py", "Return the lowest.", "Return it."),
    "removed docstring": ("low.py", '    """Return the lowest."""\n', ""),
    "added docstring": ("low.py", "def second(x):\n", 'def second(x):\n    """Second."""\n'),
    "docstring of an entry": ("top.py", '"""Entry."""', '"""Changed."""'),
    "docstring of a module": ("constants.py", '"""Constants."""', '"""Numbers."""\n'),
    "docstring of an enum": ("constants.py", '"""A kind."""', '"""Kinds."""'),
    "docstring of a NamedTuple": ("constants.py", '"""Two numbers."""', '"""Pairs."""'),
    "docstring of an intrinsic": ("operators.py", '"""Double."""', '"""Twice."""'),
    "docstring of its helper": ("operators.py", '"""Emit a doubled number."""', '"""Emit."""'),
    "docstring of its class": ("operators.py", '"""Emits code."""', '"""Emitter."""'),
    "annotations": ("low.py", "def lowest(x)", "def lowest(x: int) -> int"),
    "future annotations": ("middle.py", "\nfrom", "\nfrom __future__ import annotations\nfrom", 1),
    "message": ("message.py", "wrong", "very wrong"),
    "new constant": ("constants.py", "LIMIT = 10", "UNUSED = 1\nLIMIT = 10"),
    "new kernel": (
        "low.py",
        "@kernel\ndef lowest",
        "@kernel\ndef new(x):\n    return x\n@kernel\ndef lowest",
    ),
    "equal constant": ("constants.py", "LIMIT = 10", "LIMIT = 5 + 5"),
    "import in a function": ("message.py", "def complain():", "def complain():\n    import json"),
    "parentheses": ("middle.py", "return pick(x) + inlined(x)", "return (pick(x)) + (inlined(x))"),
}


class Tiny:
    """The package in a folder, with a cache beside it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.cache = folder, folder / "cache"
        if not (folder / "tiny").exists():
            (folder / "tiny").mkdir(parents=True)
            for name, text in FILES.items():
                (folder / "tiny" / name).write_text(text)

    @contextmanager
    def edited(self, name, old, new, count=-1):
        """Context manager: replace text in a file; fail if `old` is not there."""
        path = self.folder / "tiny" / name
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new, count))
        yield
        path.write_text(text)

    def load(self, monkeypatch, cache=None):
        """Import the package as a new process would; return its module `top`, and its kernels.

        Compiled code is in the folder `cache`.
        """
        for name in [name for name in sys.modules if name.partition(".")[0] == "tiny"]:
            del sys.modules[name]
        monkeypatch.setattr(sys, "dont_write_bytecode", True)
        monkeypatch.syspath_prepend(self.folder)
        monkeypatch.setattr(jit, "FILES", KernelFiles(lambda: [cache or self.cache]))
        kernels = []
        for name in ("KERNELS", "ENTRIES"):
            monkeypatch.setattr(jit, name, kernels if name == "KERNELS" else [])
        importlib.invalidate_caches()
        return importlib.import_module("tiny.top"), kernels

    def stamps(self, monkeypatch):
        """Return stamps by name of the kernel; of entries with the text of their types."""
        top, kernels = self.load(monkeypatch)
        stamps, made = {}, Stamps()
        for each in kernels:
            stamps.setdefault(each.py_func.__name__, []).append(made(each))
        for name, given in zip(ENTRIES, top.arguments(), strict=True):
            stamps[name] += [text_of_type(numba.typeof(each)) for each in given]
        return {name: sorted(texts) for name, texts in stamps.items()}

    def run(self, monkeypatch, cache=None, limit=None):
        """Call all entries as a new process; return outputs and the names of compiled kernels.

        `limit` replaces a global of the kernels before they are called.
        """
        top, kernels = self.load(monkeypatch, cache)
        if limit:
            sys.modules["tiny.low"].LIMIT = limit
        outputs = top.outputs()
        return outputs, {each.py_func.__name__ for each in kernels if each.stats.cache_misses}

    def start(self, *user, **environment):
        """Start a process that calls all entries; `user` is a command that changes the user."""
        own = {"PYTHONDONTWRITEBYTECODE": "1", "NUMBA_CACHE_DIR": str(self.cache)}
        own["PYTHONPATH"] = os.pathsep.join(filter(None, (str(self.folder), *sys.path)))
        return subprocess.Popen(
            [*user, sys.executable, "-m", "tiny"],
            env={**os.environ, **own, **environment},
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


def result(process):
    """Wait for a process of `Tiny.start`; return outputs, names of compiled kernels, messages."""
    out, errors = process.communicate()
    assert process.returncode == 0, errors
    outputs, compiled = json.loads(out)
    return outputs, set(compiled), errors
