/** The longest cool-down that a provider's Retry-After may cause, and the one assumed when a refusal names none. */
export const coolDownMaxMs = 600_000
export const coolDownDefaultMs = 5_000
/** Concurrent calls to one deployment: the greatest limit. */
export const concurrencyMax = 512
