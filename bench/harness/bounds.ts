/** Longest wait for a program to become ready, in milliseconds; LiteLLM takes half a minute on a busy machine. */
export const readyWaitMs = 60_000

/** Longest wait for a program to end by itself before it is killed, in milliseconds. */
export const stopWaitMs = 10_000

/** Longest run of one load program, in milliseconds: all cases together stay within minutes. */
export const loadWaitMs = 240_000

/** Callers at once in a saturated run: with 32 both cores still waited a third of the time for the disk. */
export const saturatedConnections = 64

/** Streams at once whose chunks come one by one: a quarter of a second each, so that fewer leave the cores idle. */
export const saturatedStreams = 256

/** Connections the open-loop loader may have; reached only when the gateway has stopped answering. */
export const openLoopConnectionsMax = 512

/** Longest wait for the batch of the upload case to end, in milliseconds. */
export const batchWaitMs = 150_000

/** Longest wait for npm, in milliseconds. */
export const npmWaitMs = 120_000

/** A ratio may be this many times its recorded one before it counts as a regression: what a busy machine adds. */
export const regressionFactor = 1.25

/** Longest wait for pip, in milliseconds: LiteLLM brings 700 MB. */
export const pipWaitMs = 600_000

/** Longest wait for the Go compiler, in milliseconds. */
export const goWaitMs = 300_000

/** How long a gateway rests before its memory counts as idle, in milliseconds. */
export const idleMs = 15_000
