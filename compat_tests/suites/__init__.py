"""The clients' own suites, run from a fetched checkout against a broker of ours or the judge's.

    python -m compat_tests.suites [NAME ...] [--broker apache-kafka]

Source: README.md beside this file.
"""
