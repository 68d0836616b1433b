#!/bin/sh
# Aligns the example of each technology and shows what comes out: `make demo`.
set -eu
data=$(dirname "$0")
mkdir -p out
for technology in illumina pacbio nanopore; do
    printf '\n== %s: wfacli align data/%s.query.fa.gz data/%s.target.fa.gz -o out/%s.sam\n' \
        "$technology" "$technology" "$technology" "$technology"
    wfacli align "$data/$technology.query.fa.gz" "$data/$technology.target.fa.gz" -o "out/$technology.sam"
    printf 'Its first records (QNAME, RNAME, POS and the beginning of CIGAR):\n'
    grep -v '^@' "out/$technology.sam" | head -n 3 | cut -f 1,3,4,6 | cut -c 1-160
done
printf '\n== reads against a reference: wfacli align data/nanopore.query.fa.gz data/sarscov2.fa.gz --mappings data/nanopore.paf.gz -o out/mapped.sam\n'
wfacli align "$data/nanopore.query.fa.gz" "$data/sarscov2.fa.gz" --mappings "$data/nanopore.paf.gz" -o out/mapped.sam
grep -v '^@' out/mapped.sam | head -n 3 | cut -f 1-6 | cut -c 1-160
printf '\nThe alignments are in %s/out; each line above that starts with "wfacli:" sums one file up.\n' "$PWD"
