"""CRC-32C of record batches and of Kafka's files: the C function of the package crc32c, and nothing else.

That package imports its command line and `importlib.metadata` with it (argparse, email, zipfile), which is a
tenth of the time that a broker takes to start. So the extension module is looked for in the package's folder
and loaded by itself; where it is not found there, the package is imported as everybody does.

Used by `records`, and by storage for what it reads, writes anew and keeps beside the log.

Source: Kafka's Crc32C.
"""

import sys
from collections.abc import Callable
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec

Crc32c = Callable[..., int]
"""`crc32c(data, value=0)`: the checksum of `data`, going on from that of what stands before it."""


def _load() -> Crc32c:
    """Find the function, without the package where that can be done."""
    function: Crc32c
    spec = None
    if "crc32c" not in sys.modules:
        package = find_spec("crc32c")
        folders = None if package is None else package.submodule_search_locations
        spec = PathFinder.find_spec("_crc32c", list(folders)) if folders else None
    if spec is None or spec.loader is None:
        from crc32c import crc32c as function
    else:
        extension = module_from_spec(spec)
        spec.loader.exec_module(extension)
        function = extension.crc32c
    return function


crc32c = _load()
