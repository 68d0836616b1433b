// A run of wfacli in shards: a plan, a task for each shard, and a merge. The bytes are those of one machine's run.
//
//   nextflow run workflows/nextflow --arguments 'reads.fq.gz ref.fa --mappings reads.paf --sort' \
//       --inputs 'reads.fq.gz,ref.fa,reads.paf' --output out.bam --shards 64
//
// Files are staged under their own names, by which --arguments has them.
nextflow.enable.dsl = 2

params.command = 'align'
params.arguments = null
params.inputs = null
params.output = 'out.bam'
params.shards = 16
params.results = 'results'

process WFACLI_PLAN {
    label 'process_single'
    conda "${moduleDir}/environment.yml"

    input:
    path inputs
    val command
    val arguments
    val output
    val shards

    output:
    path 'run.plan', emit: plan
    tuple val("${task.process}"), val('wfacli'), eval('wfacli --version'), topic: versions

    script:
    """
    wfacli plan ${command} ${arguments} --to ${output} --shards ${shards} -o run.plan -q
    """

    stub:
    """
    touch run.plan
    """
}

process WFACLI_SHARD {
    label 'process_medium'
    tag "${shard}"
    conda "${moduleDir}/environment.yml"

    input:
    path plan
    path inputs
    val command
    val shards
    each shard

    output:
    path 'run.plan.parts/*', emit: parts

    script:
    """
    wfacli ${command} --plan ${plan} --shard ${shard}/${shards} --threads ${task.cpus} -q
    """

    stub:
    """
    mkdir run.plan.parts
    touch run.plan.parts/${shard}
    """
}

process WFACLI_MERGE {
    label 'process_medium'
    conda "${moduleDir}/environment.yml"
    publishDir params.results, mode: 'copy'

    input:
    path plan
    path inputs
    path parts, stageAs: 'run.plan.parts/*'
    val output

    output:
    path "${output}*", emit: output

    script:
    """
    wfacli merge ${plan} -o ${output} --threads ${task.cpus} -q
    """

    stub:
    """
    touch ${output}
    """
}

workflow {
    inputs = Channel.fromPath(params.inputs.tokenize(',')).collect()
    shards = Channel.of(1..params.shards)
    WFACLI_PLAN(inputs, params.command, params.arguments, params.output, params.shards)
    plan = WFACLI_PLAN.out.plan.first()
    WFACLI_SHARD(plan, inputs, params.command, params.shards, shards)
    WFACLI_MERGE(plan, inputs, WFACLI_SHARD.out.parts.collect(), params.output)
}
