"""The parts of `paper.py`: programs that use the clients people use, and who gives them their orders.

`..._client.py` and `JmsClient.java` are the programs, `serving` is the loop that those in Python share,
`clients` starts them, `experiment` measures, `report` says what came of it beside what the paper says.
"""
