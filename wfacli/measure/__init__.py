"""Measurements on this machine, shared by `wfacli bench` and the scripts in bench/."""
