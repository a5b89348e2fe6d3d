"""A loopback that is nobody else's and uses CUBIC: for machines whose kernel is set to BBR.

BBR takes the loopback for a slow line now and then, paces what is sent to it, and keeps to that for seconds:
a fetch of 1 MiB then costs four times the processor time. It does so more often the longer a server takes
to answer, so that it falsifies a ratio. There a bench starts itself again in a network namespace of its
own, which takes root, `unshare` (util-linux) and `ip` (iproute2). Called by `question`.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

_INSIDE = "WIREKAFKA_BENCH_OWN_NETWORK"
_ENTER = (
    "ip link set lo up && ip route replace local 127.0.0.1 dev lo table local proto kernel scope host "
    'src 127.0.0.1 congctl cubic && exec "$@"'
)
_CONGESTION_CONTROL = Path("/proc/sys/net/ipv4/tcp_congestion_control")


def leave_bbr() -> None:
    """Where TCP uses BBR, go on in a network of its own; say so if that cannot be had."""
    if _INSIDE in os.environ or not _uses_bbr():
        return
    command = ["unshare", "--net", "sh", "-c", _ENTER, "sh"]
    if shutil.which("unshare") and subprocess.run([*command, "true"], capture_output=True).returncode == 0:
        print("TCP uses bbr here: the bench goes on in a network of its own, with cubic", flush=True)
        os.environ[_INSIDE] = "1"
        os.execvp(command[0], [*command, sys.executable, *sys.argv])
    print("TCP uses bbr here, and only root can leave it: ratios that go through it mean little", flush=True)


def _uses_bbr() -> bool:
    return _CONGESTION_CONTROL.exists() and _CONGESTION_CONTROL.read_text().strip() == "bbr"
