"""Snakemake wrapper for wfacli align: pairs of two files, or reads on a reference with mappings."""

__author__ = "The authors of wfacli"
__license__ = "MIT"

import shlex

from snakemake.shell import shell

log = snakemake.log_fmt_shell(stdout=False, stderr=True)  # noqa: F821 - Snakemake defines it
extra = snakemake.params.get("extra", "")  # noqa: F821
files = snakemake.input  # noqa: F821

options = []
for name in ("mappings", "mates"):
    if path := files.get(name):
        options += [f"--{name}", shlex.quote(str(path))]
if len(snakemake.output) > 1:  # noqa: F821
    options.append("--sort --write-index")
options = " ".join(options)

shell(
    "wfacli align {files.query:q} {files.target:q} {options} --threads {snakemake.threads} {extra} "
    "-o {snakemake.output[0]:q} {log}"
)
