"""Does what the paper of 2011 found still hold? Its figures 4 and 5, with Debian's RabbitMQ and ActiveMQ.

    python bench/paper.py [--rounds N] [--quick] [--results FOLDER]

One producer, then one consumer, of messages of 200 bytes in one topic or queue, by the clients people use
(`paper_parts`). Needs `apt-get install rabbitmq-server activemq default-jdk-headless` and `pip install pika
stomp.py`; who is not there is left out, and the answer says so. The brokers are processes of the bench's own,
on free ports and in its scratch folder; the services of the same names are not used and need not run.
"""

from instrument.answers import Answer
from instrument.question import Options, Question, run
from paper_parts.experiment import fetch, measure
from paper_parts.report import answer


def ask(options: Options) -> Answer:
    """Measure, and say it beside what the paper says."""
    return answer(measure(options.folder, options.rounds, quick=options.quick))


QUESTION = Question(
    "paper",
    "Do the ratios of the paper of 2011, figures 4 and 5, hold against today's RabbitMQ and ActiveMQ?",
    ask,
    minutes=8.6,
    prepare=fetch,
)

if __name__ == "__main__":
    run(QUESTION)
