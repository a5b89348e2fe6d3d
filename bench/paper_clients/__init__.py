"""The clients that people use, as programs which `clients.py` gives orders to. Parts of `paper.py`."""
