"""Data folders handed from one broker to the other.

Apache Kafka's are opened here, and ours are read by Kafka's tools.
"""
