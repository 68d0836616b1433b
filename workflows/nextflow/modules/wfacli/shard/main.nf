process WFACLI_SHARD {
    tag "${meta.id}: ${shard} of ${shards}"
    label 'process_medium'
    label 'process_gpu'
    conda "${moduleDir}/environment.yml"

    input:
    tuple val(meta), path(plan), path(inputs)
    val command
    each shard
    val shards

    output:
    tuple val(meta), path("${plan}.parts/*"), emit: parts
    tuple val("${task.process}"), val('wfacli'), eval('wfacli --version'), topic: versions, emit: versions_wfacli

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    // With an accelerator auto takes it; without one no GPU of the host is touched that others may have.
    def engine = task.accelerator ? 'auto' : 'cpu'
    """
    wfacli ${command} --plan ${plan} --shard ${shard}/${shards} --engine ${engine} --threads ${task.cpus} ${args} -q
    """

    stub:
    """
    mkdir ${plan}.parts
    touch ${plan}.parts/${shard}-of-${shards}.part ${plan}.parts/${shard}-of-${shards}.part.json
    """
}
