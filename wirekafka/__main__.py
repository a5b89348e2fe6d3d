"""`python -m wirekafka` is `wirekafka`."""

from wirekafka.cli.main import main

main(prog_name="wirekafka")
