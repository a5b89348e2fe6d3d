"""How many files and connections the process may have open: as many as the system lets it ask for.

Called by `cli.serve` before anything is opened; not by who runs a broker inside a process of their own, whose
limits are not ours to change.

Source: none of Kafka's; Java does the same at its start (-XX:+MaxFDLimit).
"""

import contextlib
import resource

_ENOUGH = 65_536


def raise_descriptor_limit() -> int:
    """Raise the soft limit (1,024 on most machines) as far as the hard one allows; give what holds then."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _ENOUGH if hard == resource.RLIM_INFINITY else min(_ENOUGH, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(OSError, ValueError):  # macOS has a lower limit that it does not tell here
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]
