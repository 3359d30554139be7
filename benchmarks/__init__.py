"""Speed and memory, measured beside OpenSpiel in one run: `make benchmark`."""
