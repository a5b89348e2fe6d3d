"""One file per subject; each story states one behaviour that every Kafka broker must show.

Read by pytest; stories call only the faces in `compat_tests.clients.adapter`.
Source: Apache Kafka 4.4, against which every story must pass first.
"""
