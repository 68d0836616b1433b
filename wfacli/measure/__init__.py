"""Measurements of this machine: what `wfacli bench` and the scripts in bench/ share."""
