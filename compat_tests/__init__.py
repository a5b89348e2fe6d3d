"""Stories told by stock Kafka clients to any broker that speaks the protocol.

Read by pytest only; see README.md for how to point them at a broker.
Source: the clients' own public interfaces.
"""
