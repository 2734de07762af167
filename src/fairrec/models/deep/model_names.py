"""The names of the deep models, for whoever has no torch."""

DEEP_MODELS = ("wide_deep", "deepfm", "dcn", "fgcnn")
