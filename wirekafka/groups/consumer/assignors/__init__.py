"""The assignors that the broker has: who of a group's members shall read which partitions.

Asked by `groups.consumer.target`. An assignor is loaded when it is first called: a broker without such
groups never pays for it.

Source: Kafka's setting group.consumer.assignors and its RangeAssignor and UniformAssignor; KIP-848.
"""

from collections.abc import Mapping

from wirekafka.groups.consumer.assignors.assignor import (
    Assignments,
    Assignor,
    AssignorMember,
    Members,
    TopicsById,
)

__all__ = ["ASSIGNORS", "Assignor", "AssignorMember"]


class _Uniform:
    """Every member as many partitions as any other, and as few moves as that allows."""

    name = "uniform"

    def assign(self, members: Members, topics: TopicsById) -> Assignments:
        from wirekafka.groups.consumer.assignors import uniform

        return uniform.assign(members, topics)


class _Range:
    """The same range of partitions of every topic, for topics that are read together."""

    name = "range"

    def assign(self, members: Members, topics: TopicsById) -> Assignments:
        from wirekafka.groups.consumer.assignors import ranges

        return ranges.assign(members, topics)


ASSIGNORS: Mapping[str, Assignor] = {assignor.name: assignor for assignor in (_Uniform(), _Range())}
"""By name, the one that is used when a member asks for none first."""
