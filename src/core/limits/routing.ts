/**
 * Health, concurrency and conversations that stick to an endpoint. Durations end in Ms, sizes in Bytes.
 */

/** Conversations that stick to an endpoint: per organization, organizations at all, and how long without use. */
export const stickyPerOrganizationMax = 1_000
export const stickyOrganizationsMax = 1_000
export const stickyIdleMs = 600_000
/** How long a failed endpoint stands behind the others, and the window of latency and throughput. */
export const failureMemoryMs = 30_000
export const performanceWindowMs = 300_000
/** The window of the latency and throughput that the catalog shows, by the contract. */
export const figuresWindowMs = 1_800_000
/** Latency and throughput samples kept per endpoint; the newest, in fixed memory. */
export const performanceSamplesMax = 64
/** Longest cool-down a provider's Retry-After may cause, and the one assumed when a refusal names none. */
export const coolDownMaxMs = 600_000
export const coolDownDefaultMs = 5_000
/** How often a deployment whose credential was refused is tried again. */
export const credentialRetryMs = 60_000
/** Endpoints and deployments whose health is remembered. */
export const healthEntriesMax = 20_000
/** Calls at once to one deployment: where adaptation begins, ends, and never goes below. */
export const concurrencyStart = 16
export const concurrencyMax = 512
export const concurrencyMin = 1
/** Callers that may wait for a free place at one deployment. */
export const concurrencyQueueMax = 10_000
