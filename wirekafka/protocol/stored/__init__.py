"""Messages that are stored rather than sent: records of internal topics, and what members exchange."""
