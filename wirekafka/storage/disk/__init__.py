"""What the logs of a data folder share: the calls to the operating system, descriptors, health.

Used by every other room of storage; knows nothing of segments or logs.
"""
