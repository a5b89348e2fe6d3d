"""Looks at the data folder of a broker that does not run, says what is wrong in it, and mends it.

Called by `cli`; no part of a running broker comes here, so `storage` does not import it.
"""

from wirekafka.storage.repair.repair import Repaired
from wirekafka.storage.repair.stopped_folder import StoppedFolder, stopped_folder
from wirekafka.storage.repair.verification import Remedy, Verified

__all__ = ["Remedy", "Repaired", "StoppedFolder", "Verified", "stopped_folder"]
