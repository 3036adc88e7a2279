"""History: the transcript of every round, its replay, and the bundles auditors re-execute."""
