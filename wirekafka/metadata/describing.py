"""DescribeConfigs: the settings of topics, brokers, groups and client metrics, and where they come from.

Called by `MetadataMachine.describe_configs`; changes nothing.

Source: Kafka's ConfigHelper and ConfigHelperUtils.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import dropwhile

from wirekafka.metadata.configs.broker import BROKER_CONFIGS, broker_definition, broker_synonyms
from wirekafka.metadata.configs.definition import (
    ConfigDefinition,
    ConfigSource,
    ConfigType,
    ConfigValue,
)
from wirekafka.metadata.configs.group import CLIENT_METRICS_CONFIGS, GROUP_CONFIGS, group_synonym
from wirekafka.metadata.configs.settings import Settings, Source
from wirekafka.metadata.configs.topic import TOPIC_CONFIGS, TOPIC_SYNONYMS
from wirekafka.metadata.image import (
    BROKER_LOGGER_RESOURCE,
    BROKER_RESOURCE,
    CLIENT_METRICS_RESOURCE,
    GROUP_RESOURCE,
    TOPIC_RESOURCE,
)
from wirekafka.metadata.state import ClusterState
from wirekafka.metadata.topics import validate_name
from wirekafka.protocol.apis.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
from wirekafka.protocol.error_codes import ErrorCode, KafkaError

_INTEGER = re.compile(r"[+-]?[0-9]{1,10}", re.ASCII)


@dataclass(frozen=True, slots=True)
class _Entry:
    """One setting of a resource: its value, and all that speaks for it, the strongest first."""

    definition: ConfigDefinition
    value: ConfigValue
    synonyms: list[DescribeConfigsSynonym]
    read_only: bool = False


def describe_configs(request: DescribeConfigsRequest, state: ClusterState) -> list[DescribeConfigsResult]:
    """Give a result for every resource asked about.

    A type of resource that Kafka does not know refuses the whole request, as it does there.
    """
    strange = [resource for resource in request.resources if resource.resource_type not in _ENTRIES]
    if strange:
        first = strange[0]
        error = KafkaError(
            ErrorCode.INVALID_REQUEST,
            f"Unexpected resource type {first.resource_type} for resource {first.resource_name}",
        )
        return [_refused(resource, error) for resource in request.resources]
    return [_describe(resource, request, state) for resource in request.resources]


def _describe(
    resource: DescribeConfigsResource, request: DescribeConfigsRequest, state: ClusterState
) -> DescribeConfigsResult:
    try:
        entries = list(_ENTRIES[resource.resource_type](resource.resource_name, state))
    except KafkaError as error:
        return _refused(resource, error)
    # As in Kafka an empty list of names asks for all of them, like null.
    wanted = set(resource.configuration_keys or (entry.definition.name for entry in entries))
    return DescribeConfigsResult(
        error_code=ErrorCode.NONE,
        error_message="",
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
        configs=[_told(entry, request) for entry in entries if entry.definition.name in wanted],
    )


def _told(entry: _Entry, request: DescribeConfigsRequest) -> DescribeConfigsResourceResult:
    definition = entry.definition
    return DescribeConfigsResourceResult(
        name=definition.name,
        value=None if definition.sensitive else definition.format(entry.value),
        read_only=entry.read_only,
        config_source=entry.synonyms[0].source if entry.synonyms else ConfigSource.DEFAULT,
        is_sensitive=definition.sensitive,
        synonyms=entry.synonyms if request.include_synonyms else [],
        config_type=definition.type,
        documentation=definition.documentation if request.include_documentation else None,
    )


def _topic_entries(name: str, state: ClusterState) -> Iterator[_Entry]:
    validate_name(name)
    if name not in state.image.topics:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"This server does not host topic '{name}'.")
    own = state.image.configs(TOPIC_RESOURCE, name)
    values = state.topic_settings.effective(own)
    for config, definition in sorted(TOPIC_CONFIGS.items()):
        if definition.internal and config not in own:
            continue
        synonyms = []
        if config in own:
            synonyms.append(_synonym(definition, values[config], ConfigSource.DYNAMIC_TOPIC))
        if config in TOPIC_SYNONYMS:
            synonyms += _broker_synonyms(TOPIC_SYNONYMS[config][0][0], state)
        yield _Entry(definition, values[config], synonyms)


def _broker_entries(name: str, state: ClusterState) -> Iterator[_Entry]:
    if not name:
        yield from _common_broker_entries(state)
        return
    _check_broker(name, state, "or empty string, ")
    settings = state.settings
    for config in sorted(settings):
        definition = settings.definition(config)
        if definition.internal and settings.source(config) is Source.DEFAULT:
            continue
        synonyms = _broker_synonyms(config, state)
        yield _Entry(definition, settings[config], synonyms, read_only=not definition.updatable)


def _common_broker_entries(state: ClusterState) -> Iterator[_Entry]:
    """The settings made at run time for all brokers."""
    for config, text in sorted(state.broker_settings.all_brokers.items()):
        definition = broker_definition(config) or ConfigDefinition(config, ConfigType.UNKNOWN, None)
        synonyms = [
            synonym
            for synonym in _broker_synonyms(config, state)
            if synonym.source == ConfigSource.DYNAMIC_DEFAULT_BROKER
        ]
        yield _Entry(definition, text, synonyms, read_only=not definition.updatable)


def _logger_entries(name: str, state: ClusterState) -> Iterable[_Entry]:
    if not name:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Broker id must not be empty")
    _check_broker(name, state, "")
    # Kafka lists its log4j loggers; wirekafka has none whose level could be set from outside.
    return ()


def _client_metrics_entries(name: str, state: ClusterState) -> Iterator[_Entry]:
    if not name:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Client metrics subscription name must not be empty")
    own = state.image.configs(CLIENT_METRICS_RESOURCE, name)
    for config, definition in CLIENT_METRICS_CONFIGS.items():
        value = definition.parse(own[config]) if config in own else definition.default
        set_here = [_synonym(definition, value, ConfigSource.CLIENT_METRICS)] if config in own else []
        yield _Entry(definition, value, set_here)


def _group_entries(name: str, state: ClusterState) -> Iterator[_Entry]:
    if not name:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Group name must not be empty")
    own = state.image.configs(GROUP_RESOURCE, name)
    for config, definition in GROUP_CONFIGS.items():
        broker_name = group_synonym(config)
        given = broker_name is not None and state.settings.source(broker_name) is not Source.DEFAULT
        if definition.internal and config not in own and not given:
            continue
        value = _group_default(definition, broker_name, state.settings)
        synonyms = []
        if config in own:
            value = definition.parse(own[config])
            synonyms.append(_synonym(definition, value, ConfigSource.GROUP))
        if broker_name is not None:
            synonyms += _broker_synonyms(broker_name, state)
        elif definition.default is not None:
            synonyms.append(_synonym(definition, definition.default, ConfigSource.DEFAULT))
        yield _Entry(definition, value, synonyms)


def _group_default(definition: ConfigDefinition, broker_name: str | None, settings: Settings) -> ConfigValue:
    if broker_name is None:
        return definition.default
    value = settings[broker_name]
    # A group has one assignor, the broker a list of them: the first is the default.
    return value[0] if isinstance(value, tuple) and definition.type is not ConfigType.LIST else value


def _broker_synonyms(name: str, state: ClusterState) -> list[DescribeConfigsSynonym]:
    """All that speaks for a broker setting: what was changed for this broker, what for all of them, what
    was given at start, then Kafka's defaults.

    What stands before the setting's own name is left out, as in Kafka.
    """
    names = broker_synonyms(name)
    own, static = state.broker_settings, state.broker_settings.static
    found = [
        _given_synonym(synonym, given[synonym], source)
        for given, source in (
            (own.this_broker, ConfigSource.DYNAMIC_BROKER),
            (own.all_brokers, ConfigSource.DYNAMIC_DEFAULT_BROKER),
        )
        for synonym in names
        if synonym in given
    ]
    found += [
        _synonym(static.definition(synonym), static[synonym], ConfigSource.STATIC_BROKER)
        for synonym in names
        if synonym in static and static.source(synonym) is not Source.DEFAULT
    ]
    found += [
        _synonym(BROKER_CONFIGS[synonym], BROKER_CONFIGS[synonym].default, ConfigSource.DEFAULT)
        for synonym in names
        if synonym in BROKER_CONFIGS and BROKER_CONFIGS[synonym].default is not None
    ]
    return list(dropwhile(lambda synonym: synonym.name != name, found))


def _given_synonym(name: str, text: str, source: ConfigSource) -> DescribeConfigsSynonym:
    """A setting made at run time, in the words in which it was made."""
    definition = broker_definition(name)
    hidden = definition is None or definition.sensitive
    return DescribeConfigsSynonym(name=name, value=None if hidden else text, source=source)


def _synonym(
    definition: ConfigDefinition, value: ConfigValue, source: ConfigSource
) -> DescribeConfigsSynonym:
    text = None if definition.sensitive else definition.format(value)
    return DescribeConfigsSynonym(name=definition.name, value=text, source=source)


def _check_broker(name: str, state: ClusterState, alternative: str) -> None:
    if not _INTEGER.fullmatch(name):
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"Broker id must be an integer, but it is: {name}")
    if int(name) != state.node_id:
        raise KafkaError(
            ErrorCode.INVALID_REQUEST,
            f"Unexpected broker id, expected {state.node_id} {alternative}but received {name}",
        )


def _refused(resource: DescribeConfigsResource, error: KafkaError) -> DescribeConfigsResult:
    return DescribeConfigsResult(
        error_code=error.code,
        error_message=error.message,
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
        configs=[],
    )


_ENTRIES: dict[int, Callable[[str, ClusterState], Iterable[_Entry]]] = {
    TOPIC_RESOURCE: _topic_entries,
    BROKER_RESOURCE: _broker_entries,
    BROKER_LOGGER_RESOURCE: _logger_entries,
    CLIENT_METRICS_RESOURCE: _client_metrics_entries,
    GROUP_RESOURCE: _group_entries,
}
