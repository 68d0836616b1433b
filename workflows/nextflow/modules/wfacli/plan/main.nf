process WFACLI_PLAN {
    tag "${meta.id}"
    label 'process_single'
    conda "${moduleDir}/environment.yml"

    input:
    tuple val(meta), path(inputs)
    val command
    val arguments
    val suffix
    val shards

    output:
    tuple val(meta), path("${prefix}.plan"), emit: plan
    tuple val("${task.process}"), val('wfacli'), eval('wfacli --version'), topic: versions, emit: versions_wfacli

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    prefix = task.ext.prefix ?: "${meta.id}"
    """
    wfacli plan ${command} ${arguments} ${args} --to ${prefix}.${suffix} --shards ${shards} -o ${prefix}.plan -q
    """

    stub:
    prefix = task.ext.prefix ?: "${meta.id}"
    """
    touch ${prefix}.plan
    """
}
