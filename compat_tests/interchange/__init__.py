"""Data folders handed from one broker to the other: Apache Kafka's opened here, ours read by Kafka's tools."""
