"""`Membership`: who is in a group, or will be once the decision at hand is applied, and their targets.

Made by `updating` of a group and the member that changes, and by `leaving` of those who stay; read by
`metadata` and `target`.

Source: Kafka's UpdatedMembersAndTargetAssignmentView.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from wirekafka.groups.consumer.assignment import Assignment
from wirekafka.groups.consumer.assignors import ASSIGNORS
from wirekafka.groups.consumer.group import ConsumerGroup, ResolvedRegularExpression
from wirekafka.groups.consumer.member import ConsumerMember


@dataclass(frozen=True, slots=True)
class Membership:
    """Members, their targets until now, and what their regular expressions match."""

    members: Mapping[str, ConsumerMember]
    targets: Mapping[str, Assignment]
    resolved: Mapping[str, ResolvedRegularExpression]

    @classmethod
    def of(cls, group: ConsumerGroup) -> "Membership":
        """See the group as it is."""
        return cls(group.members, group.targets, group.resolved_regexes)

    @classmethod
    def with_member(
        cls, group: ConsumerGroup, member: ConsumerMember, resolved: Mapping[str, ResolvedRegularExpression]
    ) -> "Membership":
        """See the group with one member new or changed; it takes over from who has its instance id."""
        members, targets = dict(group.members), dict(group.targets)
        holder = group.static_member(member.instance_id)
        if holder is not None and holder.member_id != member.member_id:
            del members[holder.member_id]
            inherited = targets.pop(holder.member_id, None)
            if inherited is not None:
                targets[member.member_id] = inherited
        members[member.member_id] = member
        return cls(members, targets, resolved)

    @classmethod
    def without_members(cls, group: ConsumerGroup, leaving: Iterable[ConsumerMember]) -> "Membership":
        """See the group without those who leave."""
        gone = {member.member_id for member in leaving}
        members = {member_id: member for member_id, member in group.members.items() if member_id not in gone}
        return cls(members, group.targets, group.resolved_regexes)


def preferred_assignor(members: Iterable[ConsumerMember]) -> str | None:
    """Name the assignor that most members ask for, in a tie the first built in; None when nobody asks."""
    votes = Counter(name for member in members if (name := member.server_assignor_name) is not None)
    if not votes:
        return None
    rank = {name: -place for place, name in enumerate(ASSIGNORS)}
    return max(votes, key=lambda name: (votes[name], rank.get(name, -len(rank))))
