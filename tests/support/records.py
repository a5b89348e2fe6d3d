"""Any record at all, for tests that hold one way of reading records against another."""

from hypothesis import strategies as st

from wirekafka.protocol.records import Record

_BYTES = st.none() | st.binary(max_size=200)
RECORD = st.builds(
    Record,
    _BYTES,
    _BYTES,
    st.integers(0, 1 << 50),
    st.lists(st.tuples(st.text(max_size=5), _BYTES), max_size=3).map(tuple),
)
