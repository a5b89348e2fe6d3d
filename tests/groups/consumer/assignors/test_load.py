"""groups/consumer/assignors/load.py: who is next to be given and taken from."""

from wirekafka.groups.consumer.assignors.load import Load


def test_the_least_loaded_level_up_in_turn() -> None:
    """Members 1 and 2 are given until they are as loaded as member 0, which then takes part."""
    sizes = [2, 1, 1]
    load = Load(range(3), sizes)

    given = []
    for _ in range(5):
        given.append(load.next_to_give())
        sizes[given[-1]] += 1

    assert given == [1, 2, 1, 2, 0]


def test_the_most_loaded_level_down_in_turn() -> None:
    """Member 2 is taken from until it is as loaded as member 1, which then takes part."""
    sizes = [0, 3, 4]
    load = Load(range(3), sizes)

    taken = []
    for _ in range(3):
        member = load.next_to_take()
        assert member is not None
        taken.append(member)
        sizes[member] -= 1

    assert taken == [2, 2, 1]


def test_it_is_even_when_a_move_makes_no_difference() -> None:
    """3 and 1 is not even before the one partition moved, 2 and 2 is."""
    sizes = [1, 3]
    load = Load(range(2), sizes)

    assert (load.next_to_take(), load.next_to_give()) == (1, 0)
    assert not load.is_even
    sizes[:] = [2, 2]
    assert (load.next_to_take(), load.next_to_give()) == (1, 0)
    assert load.is_even


def test_who_is_left_out_is_not_taken_from_again() -> None:
    """And the next most loaded come, whatever the distance."""
    load = Load(range(3), [1, 5, 9])

    assert load.next_to_take() == 2
    load.leave_out()
    assert load.next_to_take() == 1
    load.leave_out()
    assert load.next_to_take() == 0
    load.leave_out()
    assert load.next_to_take() is None
