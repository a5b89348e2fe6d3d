"""The data folder: its lock, whose it is, its checkpoints, and the folders of partitions in it.

Opened by `broker`.
"""
