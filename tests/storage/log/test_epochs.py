"""Tests of storage.log.epochs, after LeaderEpochFileCache."""

from wirekafka.storage.log.epochs import LeaderEpochs


def filled() -> LeaderEpochs:
    return LeaderEpochs([(1, 0), (3, 10), (6, 25)])


def test_end_offsets_are_where_the_next_epoch_began() -> None:
    """The latest ends with the log; a gap falls to the epoch below; later than all is unknown."""
    epochs = filled()

    answers = [epochs.end_offset_for(epoch, 40) for epoch in (-1, 0, 1, 2, 3, 5, 6, 7)]
    assert answers == [(-1, -1), (0, 0), (1, 10), (1, 10), (3, 25), (3, 25), (6, 40), (-1, -1)]
    assert LeaderEpochs().end_offset_for(0, 40) == (-1, -1)


def test_an_epoch_is_assigned_once() -> None:
    """Later batches of the same epoch change nothing."""
    epochs = filled()
    epochs.assign(6, 30)

    assert (epochs.entries()[-1], epochs.dirty, epochs.latest) == ((6, 25), False, 6)


def test_a_new_epoch_makes_the_file_stale() -> None:
    """`dirty` is what flush goes by."""
    epochs = filled()
    epochs.assign(7, 30)

    assert (epochs.entries()[-1], epochs.dirty, epochs.latest) == ((7, 30), True, 7)


def test_an_epoch_that_wrote_nothing_is_forgotten() -> None:
    """Two epochs cannot begin at one offset; what contradicts the new one goes."""
    epochs = filled()
    epochs.assign(8, 25)
    assert epochs.entries() == [(1, 0), (3, 10), (8, 25)]

    epochs.assign(4, 12)
    assert epochs.entries() == [(1, 0), (3, 10), (4, 12)]


def test_the_epoch_of_an_offset_is_found() -> None:
    """-1 before the first."""
    epochs = LeaderEpochs([(1, 5), (3, 10)])

    assert [epochs.epoch_of(offset) for offset in (0, 4, 5, 9, 10, 99)] == [-1, -1, 1, 1, 3, 3]


def test_truncating_the_end_forgets_epochs_that_begin_there() -> None:
    """The offset itself is cut, too."""
    epochs = filled()
    epochs.truncate_from_end(26)
    assert (epochs.entries(), epochs.dirty) == ([(1, 0), (3, 10), (6, 25)], False)

    epochs.truncate_from_end(25)
    assert (epochs.entries(), epochs.latest, epochs.dirty) == ([(1, 0), (3, 10)], 3, True)

    epochs.truncate_from_end(0)
    assert (epochs.entries(), epochs.latest) == ([], -1)


def test_truncating_the_start_moves_the_epoch_it_lies_in() -> None:
    """Epochs that ended before go; the present one begins at the new start."""
    epochs = filled()
    epochs.truncate_from_start(0)
    assert (epochs.entries(), epochs.dirty) == ([(1, 0), (3, 10), (6, 25)], False)

    epochs.truncate_from_start(12)
    assert (epochs.entries(), epochs.dirty) == ([(3, 12), (6, 25)], True)

    epochs.truncate_from_start(25)
    assert epochs.entries() == [(6, 25)]


def test_truncating_the_start_before_the_first_epoch_changes_nothing() -> None:
    """Offsets without an epoch stay without."""
    epochs = LeaderEpochs([(4, 50)])
    epochs.truncate_from_start(20)

    assert epochs.entries() == [(4, 50)]
