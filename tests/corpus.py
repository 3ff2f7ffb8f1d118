"""Where the real traffic lies that tests may read; it is not part of the project, so they skip where it is absent.

`REC_CORPUS` names the folder; by default it is `shared/corpus` beside the checkout.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

CORPUS = Path(os.environ.get("REC_CORPUS", Path(__file__).parents[2] / "shared" / "corpus"))

needs_corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason=f"no corpus of real traffic at {CORPUS}")
