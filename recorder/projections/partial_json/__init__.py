r"""What LangChain makes of JSON that is still being written, character by character, without reading it again.

After every piece of text the reader's value is what `langchain_core.utils.json.parse_partial_json` (strict=False) gives
for all the text so far; that library is the specification and the oracle of the tests. It rescans the whole text each
time; this reader looks at each character once.

Where the library's own outcome depends on the process that it runs in:

* Nesting. Its decoder raises RecursionError: on Python 3.11 at about a thousand containers less the depth of the
  caller's stack, on later versions much deeper. Here, nesting beyond `DEPTH_LIMIT` is INVALID wherever it is read.
* Integers of more digits than `sys.get_int_max_str_digits()` allows raise, and are INVALID here.
* Error offsets of the decoder differ between Python versions; by the argument in `brackets` the value does not.
"""

from recorder.projections.partial_json.changes import INVALID, Change, Follower, Invalid, Json
from recorder.projections.partial_json.reader import DEPTH_LIMIT, PartialJson, parse_partial

__all__ = ["DEPTH_LIMIT", "INVALID", "Change", "Follower", "Invalid", "Json", "PartialJson", "parse_partial"]
