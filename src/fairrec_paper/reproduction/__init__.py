"""The experiments of the FairRec paper, from data to tables and figures."""
