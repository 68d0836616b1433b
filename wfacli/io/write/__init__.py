"""Files out: SAM, BAM, CRAM, PAF, TSV; names until they are complete."""
