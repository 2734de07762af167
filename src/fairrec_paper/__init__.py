"""Data, models and experiments of the FairRec paper (Guo et al., ISSTA 2023)."""
