"""Resampling by participant, agreement, calibration: arrays in, figures out; nothing clinical."""
