"""Byte for byte: the same raw requests to Apache Kafka 4.4 and to wirekafka, the answers compared.

    python -m compat_tests.differential [SCENARIO ...]

Source: issue "One suite, two brokers"; the judge is Apache Kafka of `compat_tests.apache_kafka`.
"""
