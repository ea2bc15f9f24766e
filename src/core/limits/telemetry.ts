/**
 * Logs and metrics. Durations end in Ms, sizes in Bytes.
 */

/** Series one metric may have; further ones are counted together, so that names from outside cannot fill the memory. */
export const metricSeriesMax = 2_000
/** Ports that a process tries for its metrics, from the configured one on, where several share a port for their callers. */
export const metricsPortsMax = 100
/** How long a stopping gateway waits for the reader of its output, which may be stuck. */
export const outputWaitMs = 2_000
/** Log bytes gathered before they are written, how long they may wait, and how many may wait for a stuck reader. */
export const logGatherBytes = 8_192
export const logGatherMs = 200
export const logBacklogBytesMax = 4_000_000
/** Characters of one text in a log line; the rest is cut. */
export const logTextMax = 2_000
/** How often one batch, deployment and type of error has a line of the items that it fails, and how many are remembered. */
export const batchLineEveryMs = 300_000
export const batchLinesMax = 10_000
