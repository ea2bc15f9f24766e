/** How long a shortage of budget may be settled by recalling other owners' slices before a 402. */
export const recallWaitMs = 250
/** How long a lease on a budget lasts without renewal, by the database's clock. */
export const leaseMs = 9_000
/** Leases and owners looked at in one round of reaping, leases renewed at once, and those looked for without an answer. */
export const leasesPerRoundMax = 100
/** How often an owner of unheld grants looks for recall marks, and how soon a shortage looks again. */
export const recallWatchMs = 50
export const shortageRetryMs = 25
/** What `headrace doctor` lists of calls that were answered and then refused: of this time, and so many one by one. */
export const refusedCallsShownMs = 2_592_000_000
export const refusedCallsShownMax = 20
/** Models times organizations with statistics, samples for each, and how many samples are enough. */
export const modelStatsMax = 10_000
export const modelSamplesMax = 128
export const modelSamplesMin = 20
/** Output assumed for a hold when neither caller nor endpoint nor context states a limit. */
export const outputTokensUnknown = 16_384
/** Held for input that cannot be counted before the call, unless the operator sets a figure: a document of some thirty pages. */
export const uncountedInputTokens = 32_000
/** Token counts above this are taken for a broken report when the endpoint states no context length. */
export const usageTokensMax = 20_000_000
/** Longest audio a provider may claim, one day; more is a broken report. */
export const usageAudioMillisecondsMax = 86_400_000
/** More channels than any recording of speech has: a broken header or report. */
export const audioChannelsMax = 64
/** Refunds and corrections one charge may have. */
export const refundsMax = 16
