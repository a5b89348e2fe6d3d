"""What many tests share: a client that speaks in messages or in bytes."""
