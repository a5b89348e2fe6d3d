"""One random run: twenty members and a script of troubles, all from one seed; and many of them.

    python -m tests.torture groups --runs 10000 --seed 1

Called by `tests.torture.__main__` for the long run, by tests/torture/test_group_runs and
tests/groups/test_random_runs_of_twenty for the quick ones.

Source: issue 5's list of what happens to members.
"""

from collections.abc import Callable
from contextlib import suppress
from enum import Enum

from tests.torture.groups.classic import COOPERATIVE, RANGE, ClassicMember, Habits
from tests.torture.groups.consumer import ConsumerMember, Manners
from tests.torture.groups.member import SimulatedMember
from tests.torture.groups.times import HEARTBEAT_MS, SESSION_MS
from tests.torture.groups.world import Finding, World
from wirekafka.groups import GroupConfig

MEMBERS = 20
TROUBLED_MS = 45_000
CALM_MS = 65_000
LAST_WORDS = 60
_TICK_MS = 2_000
_GLANCE_MS = 5_000
_NAMES = ("apples", "pears", "plums", "quinces")
_HABITS = (
    (Habits(),),
    (Habits((COOPERATIVE,)),),
    (Habits((RANGE, COOPERATIVE)), Habits()),
    (Habits((COOPERATIVE, RANGE)), Habits((COOPERATIVE,))),
    (Habits(member_id_required=False, skip_assignment_known=False), Habits()),
)


_MANNERS = (Manners(), Manners(by_regex=True), Manners(server_assignor="range"))


class Kind(Enum):
    """Of which protocol the members of a run are."""

    CLASSIC = "classic"
    CONSUMER = "consumer"
    MIXED = "mixed"
    """Of both: the group is upgraded and downgraded as they come and go."""


class Run:
    """A world, its members and what is going to happen to them."""

    def __init__(self, seed: int, kind: Kind) -> None:
        self.world = World(seed, _config(seed))
        self.random = self.world.random
        self.kind = kind
        self.habits = self.random.choice(_HABITS)
        self.members = [self._member(number) for number in range(MEMBERS)]
        self.pace = self.random.choice((1, 1, 3, 6))
        """How slowly one trouble follows another: between rebalances there is something to lose, too."""
        self.calm = False

    def _member(self, number: int) -> SimulatedMember:
        instance_id = f"i{number}" if number % 4 == 3 else None
        name = f"m{number}"
        if self.kind is Kind.CLASSIC or (self.kind is Kind.MIXED and self.random.random() < 0.5):
            return ClassicMember(self.world, name, instance_id, self.random.choice(self.habits))
        return ConsumerMember(self.world, name, instance_id, self.random.choice(_MANNERS))

    def go(self) -> None:
        """Make trouble for a while, then let things calm down, and see that all is well."""
        self.world.create_topic("apples", self.random.randrange(1, 8))
        self._tick()
        self._trouble()
        self.world.pass_time(TROUBLED_MS)
        self._calm_down()
        self._settle()
        self.world.restart(after_ms=0, compacted=True)

    def _tick(self) -> None:
        if not self.calm:
            self.world.produce()
        self.world.judge.look_for_the_dead()
        self.world.schedule(_TICK_MS, self._tick)

    def _calm_down(self) -> None:
        self.world.tell("calm")
        self.calm, self.world.loss, self.world.append_error = True, 0.0, None
        if not any(member.alive for member in self.members):
            self.members[0].start(["apples"])

    def _settle(self) -> None:
        """Let things come right, however long that takes up to the utmost that it may."""
        for _ in range(0, CALM_MS, _GLANCE_MS):
            self.world.pass_time(_GLANCE_MS)
            with suppress(Finding):
                self.world.judge.look_at_the_end()
                return
            self._have_planned()
        self.world.judge.look_at_the_end()

    def _have_planned(self) -> None:
        """See to a rebalance, as an operator must, where a static member came back to read other topics."""
        for member in self.members:
            if member.alive and self.world.judge.is_planned_otherwise(member):
                member.resubscribe(member.topics)

    # --- troubles ---

    def _trouble(self) -> None:
        if self.calm:
            return
        names = list(_TROUBLES)
        name = self.random.choices(names, [_TROUBLES[one][0] for one in names])[0]
        _TROUBLES[name][1](self)
        self.world.schedule(self.pace * self.random.choice((10, 100, 500, 1_500, 4_000)), self._trouble)

    def _living(self) -> SimulatedMember | None:
        living = [member for member in self.members if member.alive]
        return self.random.choice(living) if living else None

    def some_topics(self) -> list[str]:
        return self.random.sample(_NAMES, self.random.choice((1, 1, 1, 2, 3)))

    def start_one(self) -> None:
        dead = [member for member in self.members if not member.alive]
        if dead:
            self.random.choice(dead).start(self.some_topics())

    def start_many(self) -> None:
        for _ in range(5):
            self.start_one()

    def leave(self) -> None:
        if member := self._living():
            member.leave()

    def crash(self) -> None:
        if member := self._living():
            member.crash()

    def freeze(self) -> None:
        if member := self._living():
            member.freeze(self.random.choice((500, 5_000, 12_000, 30_000)))

    def stop_polling(self) -> None:
        if member := self._living():
            member.stop_polling(self.random.choice((3_000, 15_000, 25_000)))

    def resubscribe(self) -> None:
        if member := self._living():
            topics = self.some_topics()
            self.world.tell(f"{member} reads {sorted(topics)}")
            member.resubscribe(topics)

    def change_topics(self) -> None:
        name, world = self.random.choice(_NAMES), self.world
        topic = world.topics.by_name.get(name)
        if topic is None:
            world.create_topic(name, self.random.randrange(1, 8))
        elif self.random.random() < 0.3:
            world.delete_topic(name)
        else:
            world.grow_topic(name, len(topic.ends) + self.random.randrange(1, 4))

    def lose_messages(self) -> None:
        self.world.loss = self.random.choice((0.0, 0.02, 0.2))
        self.world.tell(f"{self.world.loss:.0%} of messages are lost")

    def fail_appends(self) -> None:
        self.world.fail_appends(self.random.choice((1, 200, 3_000)))

    def restart(self) -> None:
        after_ms = self.random.choice((0, 500, 5_000, 20_000))
        self.world.restart(after_ms=after_ms, compacted=self.random.random() < 0.5)


_TROUBLES: dict[str, tuple[int, Callable[[Run], None]]] = {
    "start one": (6, Run.start_one),
    "start many": (2, Run.start_many),
    "leave": (3, Run.leave),
    "crash": (3, Run.crash),
    "freeze": (2, Run.freeze),
    "stop polling": (2, Run.stop_polling),
    "resubscribe": (3, Run.resubscribe),
    "change topics": (3, Run.change_topics),
    "lose messages": (2, Run.lose_messages),
    "fail appends": (1, Run.fail_appends),
    "restart": (1, Run.restart),
}
"""How often, and what."""


def _config(seed: int) -> GroupConfig:
    return GroupConfig(
        group_initial_rebalance_delay_ms=(0, 3_000)[seed % 2],
        heartbeat_hold_max_ms=(0, 0, 5_000)[seed % 3],
        group_consumer_session_timeout_ms=SESSION_MS,
        group_consumer_heartbeat_interval_ms=HEARTBEAT_MS,
        group_consumer_assignment_interval_ms=(0, 1_000)[seed // 2 % 2],
    )


def run(seed: int, kind: Kind, trouble: Callable[[Run], None] = lambda one: None) -> None:
    """Do the run of this seed, with more `trouble` if given; a Finding tells the story too."""
    one = Run(seed, kind)
    try:
        trouble(one)
        one.go()
    except (AssertionError, LookupError, ValueError, TypeError, AttributeError) as error:
        story = "\n".join(one.world.story[-LAST_WORDS:])
        raise Finding(f"{kind.value} run {seed}: {type(error).__name__}: {error}\n{story}") from error


def finding(number: int) -> str:
    """Do one run of many, of each kind in turn; give what was found, or nothing."""
    try:
        run(number, tuple(Kind)[number % len(Kind)])
    except Finding as found:
        return str(found)
    return ""
