"""Apache Kafka 4.4 on this machine, from Maven: the judge of the stories."""
