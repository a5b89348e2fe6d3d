"""`PowerCut`: the broker's filesystem goes down with all that was not synced, and comes back.

The broker is frozen first and its last acknowledgements are let through: with the writer running, a sync
may return while the filesystem goes down, and be believed.
"""

from tests.torture.load import Load
from tests.torture.mounts import Mount
from tests.torture.process import BrokerProcess

READY_SECONDS = 30.0
"""How soon a broker has to answer after a cut: the cache is cold, and the disk is whose it is."""


class PowerCut:
    """A death for `Campaign`."""

    def __init__(self, mount: Mount) -> None:
        self._mount = mount

    def strike(self, broker: BrokerProcess, load: Load) -> None:
        broker.freeze()
        load.drain()
        load.freeze()
        self._mount.cut_power()
        broker.kill()
        self._mount.unmount()
        self._mount.mount()
