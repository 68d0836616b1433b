// A run of wfacli in shards: a plan, a task for each shard, and a merge. The bytes are those of one machine's run.
//
//   nextflow run workflows/nextflow --arguments 'reads.fq.gz ref.fa --mappings reads.paf --sort' \
//       --inputs 'reads.fq.gz,ref.fa,reads.paf' --name out --suffix bam --shards 64 [-profile conda,gpu]
//
// Files are staged under their own names, by which --arguments has them.
include { WFACLI_PLAN  } from './modules/wfacli/plan/main'
include { WFACLI_SHARD } from './modules/wfacli/shard/main'
include { WFACLI_MERGE } from './modules/wfacli/merge/main'

workflow {
    inputs = Channel.fromPath(params.inputs.tokenize(','), checkIfExists: true)
        .collect()
        .map { files -> [[id: params.name], files] }
    WFACLI_PLAN(inputs, params.command, params.arguments, params.suffix, params.shards)
    planned = WFACLI_PLAN.out.plan.combine(inputs, by: 0)
    WFACLI_SHARD(planned, params.command, 1..params.shards, params.shards)
    parts = WFACLI_SHARD.out.parts
        .groupTuple(size: params.shards)
        .map { meta, found -> [meta, found.flatten()] }
    WFACLI_MERGE(planned.combine(parts, by: 0), params.suffix)
}
