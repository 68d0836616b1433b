"""Output files: SAM, BAM, CRAM, PAF, TSV; temporary names until a file is complete."""
