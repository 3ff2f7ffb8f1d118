"""Who opens a database on a server, and with which settings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

from sqlalchemy import make_url

from tests.store.made import behind


def other_url(url: str, **changed: object) -> str:
    """The URL with other parts; `options` are the server's settings."""
    parsed = make_url(url)
    if options := changed.pop("options", None):
        parsed = parsed.update_query_dict({"options": str(options)})
    return parsed.set(**changed).render_as_string(hide_password=False)  # type: ignore[arg-type]


@contextmanager
def role(url: str, *grants: str, limit: int = -1) -> Iterator[str]:
    """A URL for somebody who has only these grants."""
    name = f"rec_{uuid4().hex[:12]}"
    with behind(url) as other:
        other.run(f"CREATE ROLE {name} LOGIN CONNECTION LIMIT {limit}")
        try:
            for grant in grants:
                other.run(f"GRANT {grant} TO {name}")
            yield other_url(url, username=name, password=None)
        finally:
            other.run(f"DROP OWNED BY {name}")
            other.run(f"DROP ROLE {name}")
