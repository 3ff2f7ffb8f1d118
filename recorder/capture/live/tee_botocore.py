"""What passes through botocore, its event streams included: its connections are urllib3's.

Where urllib3 is seen as well (`tee_urllib3`), an exchange is seen once: here.
"""

from __future__ import annotations

import botocore.awsrequest  # type: ignore[import-untyped]

from recorder.capture.live.items import Current
from recorder.capture.live.patching import Patches
from recorder.capture.live.tee_urllib3 import patches

_installed = Patches()


def install(current: Current, *, everything: bool = False) -> None:
    """Makes every connection of botocore's pass through here; as for `tee_httpx.install`."""
    _installed.install(
        *patches(botocore.awsrequest.AWSHTTPConnection, current, everything),
        *patches(botocore.awsrequest.AWSHTTPSConnection, current, everything),
    )


def uninstall() -> None:
    """Puts back what was there. A second call does nothing."""
    _installed.uninstall()
