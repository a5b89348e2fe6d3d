"""Regular expressions that members subscribe to: which topics they match, and when that is looked up anew.

Called by `updating` and `leaving`. Kafka looks topics up in a thread of its own, and a new subscriber
learns of them with its second heartbeat; here it is done at once, which the matching in linear time allows.

Source: Kafka's GroupMetadataManager (maybeUpdateRegularExpressions, handleRegularExpressionsResult,
maybeDeleteResolvedRegularExpressions) and TopicRegexResolver.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from wirekafka.groups.consumer import patterns
from wirekafka.groups.consumer.group import ConsumerGroup, ResolvedRegularExpression
from wirekafka.groups.consumer.member import ConsumerMember
from wirekafka.groups.consumer.stored import regex_record, regex_tombstone
from wirekafka.groups.consumer.turn import ConsumerTurn
from wirekafka.groups.records import ConsumerGroupRecord
from wirekafka.protocol.error_codes import KafkaError

LOOK_UP_INTERVAL_MS = 1_000
"""For so long new topics may wait for being matched, so that many are matched at once; in Kafka 10 s."""
MOST_WORK_IN_ONE_TURN = 200_000
"""After so much no further expression is looked up; in units of `patterns`, some 50 ms."""

Resolved = Mapping[str, ResolvedRegularExpression]


class Outcome(NamedTuple):
    """What came of the regular expressions in one heartbeat."""

    has_changed: bool
    """Whether the member subscribes to another one than before."""
    calls_for_target: bool
    """Whether somebody's topics are others now."""
    resolved: Resolved


def refresh(
    turn: ConsumerTurn, group: ConsumerGroup, before: ConsumerMember, after: ConsumerMember
) -> Outcome:
    """Take note of the member's regular expression, and look up what the group's match if that is due.

    Raises INVALID_REGULAR_EXPRESSION for one that is new to the group and none, or too much work.
    """
    old, new = before.subscribed_topic_regex or "", after.subscribed_topic_regex or ""
    if not old and not new and not group.resolved_regexes:
        return Outcome(False, False, group.resolved_regexes)
    has_changed = old != new
    resolved: Resolved = group.resolved_regexes
    calls_for_target = has_changed and (bool(old) or new in resolved)
    if has_changed and old and not _others_subscribe(group, before, old):
        resolved = {regex: found for regex, found in resolved.items() if regex != old}
        turn.decision.records.append(regex_tombstone(group.group_id, old))
    due = _due(turn, group, after, resolved)
    if due:
        found = _look_up(turn, resolved, due, refusable=new if has_changed else None)
        calls_for_target |= any(_topics(resolved, regex) != _topics(found, regex) for regex in found)
        turn.decision.records.extend(regex_record(group.group_id, regex, found[regex]) for regex in found)
        resolved = {**resolved, **found}
    return Outcome(has_changed, calls_for_target, resolved)


def _others_subscribe(group: ConsumerGroup, member: ConsumerMember, regex: str) -> bool:
    # A static member that is being replaced is there under its old id, with the same instance id.
    return any(
        other.subscribed_topic_regex == regex
        for other in group.members.values()
        if other.member_id != member.member_id
        and (other.instance_id is None or other.instance_id != member.instance_id)
    )


def _due(turn: ConsumerTurn, group: ConsumerGroup, after: ConsumerMember, resolved: Resolved) -> list[str]:
    """Give those to be looked up now: the member's own, then those whose last look-up is longest ago."""
    own = after.subscribed_topic_regex or ""
    new = [own] if own and own not in resolved else []
    # Most are looked up together, so whether any is due shows in the first, and in the member's own.
    shown = (own, next(iter(resolved), own))
    if not any(regex in resolved and _is_old(turn, resolved[regex]) for regex in shown):
        return new
    subscribed = _subscribed(group, after)
    old = [regex for regex in resolved if regex in subscribed and _is_old(turn, resolved[regex])]
    return new + sorted(old, key=lambda regex: (regex != own, resolved[regex].timestamp, regex))


def _is_old(turn: ConsumerTurn, found: ResolvedRegularExpression) -> bool:
    # When it is still to come, the clock was set back.
    age_ms = turn.wall_ms - found.timestamp
    if 0 <= age_ms <= LOOK_UP_INTERVAL_MS:
        return False
    # A version that is still to come is that of a broker which counted otherwise, before a restart.
    if not turn.volatile.new_topics_generation <= found.version <= turn.topics.generation:
        return True
    return not 0 <= age_ms <= turn.config.group_consumer_regex_refresh_interval_ms


def _subscribed(group: ConsumerGroup, after: ConsumerMember) -> set[str]:
    holder = group.static_member(after.instance_id)
    replaced = {after.member_id} if holder is None else {after.member_id, holder.member_id}
    members = [member for member in group.members.values() if member.member_id not in replaced]
    return {member.subscribed_topic_regex for member in [*members, after] if member.subscribed_topic_regex}


def _look_up(
    turn: ConsumerTurn, resolved: Resolved, due: Iterable[str], *, refusable: str | None
) -> Resolved:
    """Look these up, as many as one turn may take the time for; others wait for the next heartbeat."""
    names = list(turn.topics.names())
    found = {}
    work = 0
    for regex in due:
        if work > MOST_WORK_IN_ONE_TURN:
            break
        try:
            topics, its_work = patterns.matching(regex, names)
        except KafkaError:
            if regex == refusable and regex not in resolved:
                raise
            # The log has it from a broker that took it, or there are too many topics by now.
            topics, its_work = _topics(resolved, regex), MOST_WORK_IN_ONE_TURN
        found[regex] = ResolvedRegularExpression(topics, turn.topics.generation, turn.wall_ms)
        work += its_work
    return found


def _topics(resolved: Resolved, regex: str) -> frozenset[str]:
    found = resolved.get(regex)
    return frozenset() if found is None else found.topics


def forgotten(group: ConsumerGroup, leaving: Iterable[ConsumerMember]) -> Iterator[ConsumerGroupRecord]:
    """Give the tombstones of those that only these members subscribe to."""
    leaving = list(leaving)
    gone = {member.member_id for member in leaving}
    kept = {
        member.subscribed_topic_regex
        for member in group.members.values()
        if member.member_id not in gone and member.subscribed_topic_regex
    }
    for regex in dict.fromkeys(member.subscribed_topic_regex for member in leaving):
        if regex and regex not in kept:
            yield regex_tombstone(group.group_id, regex)
