#!/bin/bash
# Submits a run of wfacli in shards: a plan, an array with a task for each shard, and a merge.
#
#   workflows/slurm/submit.sh SHARDS OUTPUT COMMAND ARGUMENTS...
#   workflows/slurm/submit.sh 64 out.bam align reads.fq.gz ref.fa --mappings reads.paf --sort --write-index
#   workflows/slurm/submit.sh --again OUTPUT          # the shards that are not done, and the merge
#   workflows/slurm/submit.sh --again OUTPUT 3,7-9    # these shards, like damaged ones that the merge has named
#
# The plan is OUTPUT.plan. SBATCH_OPTIONS has further options of every job (partition, time, account), SHARD_OPTIONS
# those of the array (--cpus-per-task, --mem, --gres). Prints the number of the merge's job.
set -euo pipefail

usage() { sed -n '4,7s/^# *//p' "$0" >&2; exit 2; }
[ $# -ge 2 ] || usage
here=$(cd "$(dirname "$0")" && pwd)
submit() { # a job whose shard has failed is removed, not left in the queue; shellcheck disable=SC2086
    sbatch --parsable --kill-on-invalid-dep=yes ${SBATCH_OPTIONS:-} "$@"
}

if [ "$1" = --again ]; then
    output=$2 plan=$2.plan after=
    status=$(wfacli plan --status "$plan" -q | tail -n +2)
    shards=$(wc -l <<<"$status")
    left=$(awk -F '\t' '$2 != "done" { printf "%s%s", comma, $1; comma = "," }' <<<"$status")
    array=${3:-$left}
else
    [ $# -ge 4 ] || usage
    shards=$1 output=$2 plan=$2.plan array=1-$1
    shift 2
    job=$(submit --job-name wfacli-plan "$here/plan.sbatch" "$shards" "$output" "$plan" "$@")
    after=--dependency=afterok:$job
fi
if [ -n "$array" ]; then
    # shellcheck disable=SC2086
    job=$(submit --job-name wfacli-shard $after --array="$array" ${SHARD_OPTIONS:-} "$here/shard.sbatch" "$plan" "$shards")
    after=--dependency=afterok:$job
fi
# shellcheck disable=SC2086
submit --job-name wfacli-merge $after "$here/merge.sbatch" "$plan" "$output"
