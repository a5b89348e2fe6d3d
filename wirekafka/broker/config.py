"""What the broker itself is told: who it is, where its data lies, where it listens.

Made from the settings table; called by `cli` and `testing`.
Source: Kafka's `listeners`, `advertised.listeners`, `node.id` and `log.dirs`.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from wirekafka.metadata import ConfigError, Settings

_LISTENER = re.compile(r"(?P<name>[A-Za-z0-9_.-]+)://(?P<host>\[[^\]]*\]|[^:\[\]]*):(?P<port>-?\d+)")


@dataclass(frozen=True, slots=True)
class ListenerConfig:
    name: str
    host: str
    """Empty for every interface."""
    port: int
    """0 for a free one of the system's choice."""
    advertised: tuple[str, int] | None = None
    """Told to clients instead of the address they reached."""

    def __str__(self) -> str:
        return f"{self.name}://{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class BrokerConfig:
    node_id: int
    data_dir: Path
    listeners: tuple[ListenerConfig, ...]
    settings: Settings

    @classmethod
    def from_settings(cls, settings: Settings) -> "BrokerConfig":
        """Read what the settings say. Raises ConfigError for listeners that are not well formed."""
        return cls(
            node_id=settings.get_int("node.id"),
            data_dir=_data_dir(settings),
            listeners=_listeners(settings),
            settings=settings,
        )


def _data_dir(settings: Settings) -> Path:
    folders = settings.log_dirs
    if len(folders) != 1:
        raise ConfigError(
            "log.dirs", f"log.dirs={','.join(folders)}: wirekafka keeps its data in one folder; name one."
        )
    return Path(folders[0])


def _listeners(settings: Settings) -> tuple[ListenerConfig, ...]:
    bound = _parse(settings, "listeners")
    advertised = _parse(settings, "advertised.listeners")
    for name, (host, _) in advertised.items():
        if not host:
            raise ConfigError(
                "advertised.listeners", f"advertised.listeners names no host for {name}: clients need one."
            )
    unknown = advertised.keys() - bound.keys()
    if unknown:
        raise ConfigError(
            "advertised.listeners",
            f"advertised.listeners names {', '.join(sorted(unknown))}, which listeners does not.",
        )
    return tuple(
        ListenerConfig(name, host, port, advertised.get(name)) for name, (host, port) in bound.items()
    )


def _parse(settings: Settings, setting: str) -> dict[str, tuple[str, int]]:
    found: dict[str, tuple[str, int]] = {}
    for text in settings.get_list(setting) if settings[setting] is not None else ():
        match = _LISTENER.fullmatch(text.strip())
        if match is None or not 0 <= int(match["port"]) <= 65535:
            raise ConfigError(setting, f"{setting}={text}: expected NAME://HOST:PORT.")
        name = match["name"].upper()
        if name in found:
            raise ConfigError(setting, f"{setting} names {name} twice; each listener has a name of its own.")
        if name == "CONTROLLER":
            continue  # Kafka's own server.properties has one; there is no quorum to listen for here
        _check_protocol(settings, setting, name)
        found[name] = (match["host"].strip("[]"), int(match["port"]))
    return found


def _check_protocol(settings: Settings, setting: str, name: str) -> None:
    """Refuse a listener that is meant to be encrypted or authenticated: nothing here is, yet."""
    pairs = settings.get_str("listener.security.protocol.map").split(",")
    mapped = dict(pair.strip().split(":", 1) for pair in pairs if ":" in pair)
    protocol = mapped.get(name, "PLAINTEXT")
    if protocol != "PLAINTEXT":
        raise ConfigError(
            setting, f"{setting} has {name}, which is {protocol}: wirekafka serves PLAINTEXT only, as yet."
        )
