"""Models that are asked: functions and ONNX files, and what they are given."""
