"""`langchain.v3`: content-block events of a model or a graph (`astream_events(version="v3")`).

Source: `langchain_protocol`, langchain-core's `ChatModelStream`, langgraph's event stream of version v3 (beta), and
JavaScript's. A model streams `{"event": "message-start", …}` and so on; a graph `{"type": "event", "method", …}`
with these under the method `messages` and what its stream modes give under theirs; JavaScript's server-sent events have
the method, and behind it the namespace, as their names. The decoder is `langgraph`'s.
"""

from __future__ import annotations

from recorder.dialects import langgraph
from recorder.dialects.base import Dialect

LANGCHAIN_V3 = Dialect(
    name="langchain.v3",
    layer="framework",
    state=langgraph.State,
    recognises=langgraph.recognises_v3,
    envelope=langgraph.envelope,
    step=langgraph.step,
)
