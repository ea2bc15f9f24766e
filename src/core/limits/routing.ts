/** How long a failed endpoint stands behind the others, and the window of latency and throughput. */
export const failureMemoryMs = 30_000
export const performanceWindowMs = 300_000
/** Longest cool-down a provider's Retry-After may cause, and the one assumed when a refusal names none. */
export const coolDownMaxMs = 600_000
export const coolDownDefaultMs = 5_000
/** Calls at once to one deployment: where adaptation begins, ends, and never goes below. */
export const concurrencyStart = 16
export const concurrencyMax = 512
export const concurrencyMin = 1
