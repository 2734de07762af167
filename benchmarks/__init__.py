"""Timings and memory of FairRec beside other tools: `python -m benchmarks`."""
