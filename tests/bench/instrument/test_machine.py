"""What a result says of where it was measured."""

import platform

from instrument.machine import describe


def test_machine_is_told_with_processors_memory_kernel_and_python() -> None:
    """And nothing that is empty."""
    told = describe()

    assert told["Python"] == platform.python_version()
    assert told["memory"].endswith(" GiB")
    assert {"processors", "kernel", "trio", "librdkafka"} <= told.keys()
    assert all(told.values())
