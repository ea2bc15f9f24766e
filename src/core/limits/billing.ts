/** How long a shortage of budget may be settled by recalling other owners' slices before a 402. */
export const recallWaitMs = 250
/** How long a lease on a budget lasts without renewal, by the database's clock. */
export const leaseMs = 9_000
/** The most leases and owners that one round of reaping reads, and the most leases renewed or searched at once. */
export const leasesPerRoundMax = 100
/** How often an owner of grants without holds looks for recall marks. */
export const recallWatchMs = 50
/** The period of which `headrace doctor` lists the calls that were answered and then refused. */
export const refusedCallsShownMs = 2_592_000_000
/** Models times organizations with statistics. */
export const modelStatsMax = 10_000
/** Output assumed for a hold when neither caller nor endpoint nor context states a limit. */
export const outputTokensUnknown = 16_384
/** Held for input that cannot be counted before the call, unless the operator sets a figure: a document of some thirty pages. */
export const uncountedInputTokens = 32_000
/** When the endpoint states no context length, a larger token count is taken for a broken report. */
export const usageTokensMax = 20_000_000
/** Longest audio a provider may claim, one day; more is a broken report. */
export const usageAudioMillisecondsMax = 86_400_000
/** More channels than any recording of speech has: a broken header or report. */
export const audioChannelsMax = 64
/** Refunds and corrections one charge may have. */
export const refundsMax = 16
