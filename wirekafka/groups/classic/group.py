"""`ClassicGroup`: members, generation and protocol choice; data and invariants only.

The files joining, syncing, liveness and rebalance say when something happens; this one, what it
does to the group. Nothing here answers a request or knows a deadline.

Source: Kafka's ClassicGroup.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from wirekafka.groups.classic.member import Member, Parked, Protocols
from wirekafka.groups.classic.states import MOVES, ClassicGroupState, check_move
from wirekafka.groups.consumer_protocol import CONSUMER_PROTOCOL_TYPE, subscribed_topics
from wirekafka.groups.java import in_map_order
from wirekafka.protocol.error_codes import ErrorCode
from wirekafka.protocol.stored.consumer_offsets import GroupMetadataValue


@dataclass(frozen=True, slots=True)
class InitialDelay:
    """How the first rebalance of an empty group waits: this delay, and what may be added to it."""

    delay_ms: int
    remaining_ms: int


@dataclass(frozen=True, slots=True)
class Replacement:
    """A static member that took another's place, until the log has it."""

    old_member: Member
    new_member_id: str


@dataclass(slots=True)
class ClassicGroup:
    """One group as it stands in memory; what of it lasts is the last GroupMetadata record."""

    group_id: str
    state: ClassicGroupState = ClassicGroupState.EMPTY
    previous_state: ClassicGroupState = ClassicGroupState.DEAD
    state_since_ms: int = -1
    protocol_type: str | None = None
    protocol_name: str | None = None
    generation_id: int = 0
    leader_id: str | None = None
    members: dict[str, Member] = field(default_factory=dict)
    static_members: dict[str, str] = field(default_factory=dict)
    """Group instance id to member id."""
    pending_members: set[str] = field(default_factory=set)
    """Ids given out with MEMBER_ID_REQUIRED that have not joined yet."""
    pending_sync: set[str] = field(default_factory=set)
    """Members of this generation that have not sent SyncGroup yet."""
    awaiting_join: dict[str, Parked] = field(default_factory=dict)
    awaiting_sync: dict[str, Parked] = field(default_factory=dict)
    initial_delay: InitialDelay | None = None
    new_member_added: bool = False
    topics: frozenset[str] | None = None
    """What the members subscribe to; None when that is not known."""
    protocol_counts: Counter[str] = field(default_factory=Counter)
    unwritten: GroupMetadataValue | None = None
    """The record just decided, until it is applied or its append failed."""
    replacement: Replacement | None = None

    # --- state ---

    def move_to(self, state: ClassicGroupState, now_ms: int) -> None:
        """Change state; ValueError when the table of moves does not have it."""
        check_move(self.group_id, self.state, state)
        self.previous_state, self.state, self.state_since_ms = self.state, state, now_ms

    @property
    def is_empty(self) -> bool:
        return self.state is ClassicGroupState.EMPTY

    @property
    def is_preparing(self) -> bool:
        return self.state is ClassicGroupState.PREPARING_REBALANCE

    @property
    def is_completing(self) -> bool:
        return self.state is ClassicGroupState.COMPLETING_REBALANCE

    @property
    def is_stable(self) -> bool:
        return self.state is ClassicGroupState.STABLE

    @property
    def is_of_consumers(self) -> bool:
        """Whether its members speak the protocol that tells the broker what they read."""
        return self.protocol_type == CONSUMER_PROTOCOL_TYPE

    @property
    def empty_since_ms(self) -> int | None:
        """Wall time at which the last member went; None while there are any, or when it is not known."""
        was_group = self.is_empty and self.protocol_type is not None and self.state_since_ms != -1
        return self.state_since_ms if was_group else None

    @property
    def may_lose_offsets(self) -> bool:
        """Whether offsets may expire: not while it is not known who will read what (KIP-211)."""
        stable_consumers = self.is_stable and self.topics is not None
        return self.is_empty or self.protocol_type is None or stable_consumers

    @property
    def can_rebalance(self) -> bool:
        return ClassicGroupState.PREPARING_REBALANCE in MOVES[self.state]

    @property
    def is_initial_rebalance(self) -> bool:
        return self.is_preparing and self.previous_state is ClassicGroupState.EMPTY

    @property
    def all_joined(self) -> bool:
        return len(self.members) == len(self.awaiting_join) and not self.pending_members

    @property
    def rebalance_timeout_ms(self) -> int:
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=0)

    def followers_first(self) -> list[Member]:
        """Give the members in the order in which they are answered, the leader last.

        It may have as its next request a JoinGroup that begins a rebalance. A follower that was told first
        has had its turn by then; one that has not is refused its assignment (REBALANCE_IN_PROGRESS), and
        clients count on being told of it (librdkafka).
        """
        return sorted(self.members.values(), key=lambda member: member.member_id == self.leader_id)

    def is_alive_by_waiting(self, member: Member) -> bool:
        """Whether a parked request of the member stands for its heartbeats."""
        waits = member.member_id in self.awaiting_join or member.member_id in self.awaiting_sync
        return waits and not member.is_new

    # --- members ---

    def add(self, member: Member) -> None:
        """Take in a new member; the first one brings the protocol type with it (see joining)."""
        assert member.member_id not in self.members
        if member.group_instance_id is not None:
            assert member.group_instance_id not in self.static_members
            self.static_members[member.group_instance_id] = member.member_id
        if self.leader_id is None:
            self.leader_id = member.member_id
        self.members[member.member_id] = member
        self.protocol_counts.update(member.protocol_names)
        self.pending_members.discard(member.member_id)

    def update(self, member: Member, protocols: Protocols, *, rebalance_ms: int, session_ms: int) -> None:
        """Give a member what its newest JoinGroup says."""
        self.protocol_counts.subtract(member.protocol_names)
        self.protocol_counts.update(name for name, _ in protocols)
        member.protocols = protocols
        member.rebalance_timeout_ms, member.session_timeout_ms = rebalance_ms, session_ms

    def remove(self, member_id: str) -> None:
        """Let a member, or a pending one, go; its parked requests must have been answered."""
        assert member_id not in self.awaiting_join
        assert member_id not in self.awaiting_sync
        member = self.members.pop(member_id, None)
        if member is not None:
            self.protocol_counts.subtract(member.protocol_names)
            if member.group_instance_id is not None:
                del self.static_members[member.group_instance_id]
        if member_id == self.leader_id:
            self.leader_id = next(iter(self.members), None)
        self.pending_members.discard(member_id)
        self.pending_sync.discard(member_id)

    def replace_static(self, old: Member, new_member_id: str) -> Member:
        """Put a member of a new id in the place of a static one, with all that the old one had."""
        assert old.group_instance_id is not None
        del self.members[old.member_id]
        new = replace(old, member_id=new_member_id, is_new=False)
        self.members[new_member_id] = new
        self.static_members[old.group_instance_id] = new_member_id
        if self.leader_id == old.member_id:
            self.leader_id = new_member_id
        return new

    def undo_replacement(self, replacement: Replacement) -> Member:
        """Put the replaced static member back as it was."""
        old, new = replacement.old_member, self.members[replacement.new_member_id]
        self.replacement = None
        self.update(
            new, old.protocols, rebalance_ms=old.rebalance_timeout_ms, session_ms=old.session_timeout_ms
        )
        return self.replace_static(new, old.member_id)

    def member_refusal(self, member_id: str, group_instance_id: str | None) -> ErrorCode | None:
        """Say why a request of this member may not be served; None when it may."""
        if group_instance_id is not None:
            holder = self.static_members.get(group_instance_id)
            if holder is None:
                return ErrorCode.UNKNOWN_MEMBER_ID
            if holder != member_id:
                return ErrorCode.FENCED_INSTANCE_ID
        return None if member_id in self.members else ErrorCode.UNKNOWN_MEMBER_ID

    # --- protocol and generation ---

    def supports(self, protocol_type: str, names: Iterable[str]) -> bool:
        """Whether a member with these protocols could be in the group."""
        if self.is_empty:
            return bool(protocol_type) and any(True for _ in names)
        if protocol_type != self.protocol_type:
            return False
        return any(self.protocol_counts[name] == len(self.members) for name in names)

    def select_protocol(self) -> str:
        """Let every member vote among what all support; a tie is decided as by Kafka's map of votes."""
        candidates = {name for name, count in self.protocol_counts.items() if count == len(self.members)}
        votes = Counter(member.vote(candidates) for member in self.members.values())
        return max(in_map_order(votes), key=votes.__getitem__)

    def elect_joined_leader(self) -> bool:
        """See to it that the leader is among those who joined; False when nobody did."""
        if self.leader_id is None or not self.awaiting_join:
            return False
        if self.leader_id not in self.awaiting_join:
            self.leader_id = next(member for member in self.members if member in self.awaiting_join)
        return True

    def start_generation(self, now_ms: int) -> None:
        """Count the generation up, and choose its protocol; without members the group is empty."""
        self.generation_id += 1
        self.protocol_name = self.select_protocol() if self.members else None
        self.refresh_topics()
        target = ClassicGroupState.COMPLETING_REBALANCE if self.members else ClassicGroupState.EMPTY
        self.move_to(target, now_ms)
        self.pending_sync.clear()

    def refresh_topics(self) -> None:
        """Work out `topics` from the members' metadata."""
        if not self.is_of_consumers:
            self.topics = None
        elif not self.members:
            self.topics = frozenset()
        elif self.protocol_name is None:
            self.topics = None
        else:
            members = self.members.values()
            self.topics = subscribed_topics(member.metadata(self.protocol_name) for member in members)

    def is_subscribed_to(self, topic: str) -> bool:
        """Whether a member reads the topic; a consumer group of unknown topics is taken to."""
        if self.topics is None:
            return self.is_of_consumers
        return topic in self.topics
