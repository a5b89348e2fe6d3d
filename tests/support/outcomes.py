"""What became of a request that was sent in a playbook: an error code, or that it waits.

Called by the tables of every input in every state.

Source: none.
"""

from tests.support.playbook import GroupPlaybook
from wirekafka.machine import Ticket
from wirekafka.protocol.error_codes import ErrorCode

WAITS = "waits"
Outcome = ErrorCode | str


def outcome_of(play: GroupPlaybook, ticket: Ticket) -> Outcome:
    if ticket in play.waiting:
        return WAITS
    answer = play.answers[ticket]
    return ErrorCode(answer.error_code)  # type: ignore[attr-defined]
