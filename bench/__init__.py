"""Measurements of wfacli and of other aligners; README.md lists the scripts."""
