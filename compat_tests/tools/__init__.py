"""Kafka's own command line tools, driven as a person would, against wirekafka and against Apache Kafka.

Read by pytest; `python -m compat_tests.tools` runs the stories and writes compat_tests/results/tools.md.
Source: the tools of Apache Kafka 4.4, taken from its jars.
"""
