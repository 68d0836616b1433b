process WFACLI_MERGE {
    tag "${meta.id}"
    label 'process_medium'
    conda "${moduleDir}/environment.yml"

    input:
    tuple val(meta), path(plan), path(inputs), path(parts, stageAs: 'parts/*')
    val suffix

    output:
    tuple val(meta), path("${prefix}.${suffix}"), emit: output
    tuple val(meta), path("${prefix}.${suffix}.{bai,csi,crai}"), emit: index, optional: true
    tuple val("${task.process}"), val('wfacli'), eval('wfacli --version'), topic: versions, emit: versions_wfacli

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    prefix = task.ext.prefix ?: "${meta.id}"
    """
    wfacli merge ${plan} --parts parts -o ${prefix}.${suffix} --threads ${task.cpus} ${args} -q
    """

    stub:
    prefix = task.ext.prefix ?: "${meta.id}"
    """
    touch ${prefix}.${suffix}
    """
}
