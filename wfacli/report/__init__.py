"""Reports of a run: figures that are collected batch by batch, the page with their plots, and files for MultiQC."""
