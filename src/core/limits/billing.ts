/**
 * Money: leases, slices, captures, and which usage is believed. Durations end in Ms, sizes in Bytes.
 */

/** How long a finished call waits for its capture to be durable before the response is cut. */
export const captureWaitMs = 10_000
/** How long a shortage of budget may be settled by recalling other owners' slices before a 402. */
export const recallWaitMs = 250
/** How long a call that cost more than its hold waits for a larger one; after that the amount held is charged. */
export const coverWaitMs = 2_000
/** How often a balance is read and corrected until it did not change meanwhile; only a grant or a returned lease makes a try fail. */
export const reconcileAttemptsMax = 10
/** How long a lease on a budget lasts without renewal, by the database's clock. */
export const leaseMs = 9_000
/** How long after sending its last renewal a process still grants, by its own clock: two thirds of the lease. */
export const leaseGrantMs = 6_000
/** How often leases in use are renewed and captures folded into their budgets. */
export const leaseRenewEveryMs = 900
/** A lease without any change is renewed only this often, well inside `leaseGrantMs`. */
export const leaseRestMs = 2_500
/** A lease that was not used for this long is given back, so that an idle process writes nothing. */
export const leaseIdleMs = 3_000
/** How often expired leases and those of dead owners are looked for. */
export const leaseReapEveryMs = 2_000
/** The held part of a lost lease stays set aside this long: for the longest call that may still be running. */
export const leaseHeldMs = 1_800_000
/** A new lease without an answer is looked for this long: longer than a commit may take. */
export const leaseUnansweredMs = 60_000
/** Leases and owners looked at in one round of reaping, leases renewed at once, and those looked for without an answer. */
export const leasesPerRoundMax = 100
/** How often an owner of unheld grants looks for recall marks, and how soon a shortage looks again. */
export const recallWatchMs = 50
export const shortageRetryMs = 25
/** Pages of a dead process's leases freed in one round: a hundred thousand leases. */
export const reapPagesMax = 1_000
/** Budgets named in one query of the recall watch. */
export const recallBudgetsMax = 200
/** After a recall, a slice takes exactly what a hold needs for this long, so that returned money is not hoarded again. */
export const recallExactMs = 1_000
/** Slices shrink to one hold when fewer typical holds than this are left, and never take a larger share than one in it. */
export const sliceShareMin = 8
/** Typical holds a slice is grown by: from, to, doubled when the last one lasted less than `sliceGrowWithinMs`. */
export const sliceGrowthStart = 16
export const sliceGrowthMax = 4_096
export const sliceGrowWithinMs = 500
/** How often a take is tried against other processes before the caller is asked to try again. */
export const takeRoundsMax = 50
/** Calls of one account that may wait for a slice. */
export const holdQueueMax = 10_000
/** Captures in one unit (three rows each), units under way at once, and captures that may wait to become durable. */
export const captureGroupMax = 50
export const captureGroupsMax = 1
export const captureQueueMax = 20_000
/** After this long without a durable capture, while captures fail, new calls are refused before anything is spent. */
export const captureStallMs = 1_000
/** Wait between tries of a capture that storage refused: first, and most. */
export const captureRetryMs = 50
export const captureRetryMaxMs = 1_000
/** What `headrace doctor` lists of calls that were answered and then refused: of this time, and so many one by one. */
export const refusedCallsShownMs = 2_592_000_000
export const refusedCallsShownMax = 20
/** Refused calls kept until storage takes the list of them where no capture does, and written at once. */
export const lossesUnlistedMax = 10_000
export const lossesListedMax = 100
/** How often waiting captures are checked for having waited too long. */
export const captureWatchMs = 500
/** Tries of one group after its leases or budgets turned out closed, before it is split. */
export const captureRedirectsMax = 4
/** How long stopping waits for captures to become durable and for leases to be given back. */
export const billingStopMs = 10_000
/** How long settling a batch's budget waits for other owners to close their leases. */
export const budgetSettleMs = 2_000
/** Models times organizations with statistics, samples for each, and how many samples are enough. */
export const modelStatsMax = 10_000
export const modelSamplesMax = 128
export const modelSamplesMin = 20
/** The learned ratio of actual to estimated prompt tokens is trusted within these bounds, in millionths. */
export const ratioPpmMin = 250_000
export const ratioPpmMax = 4_000_000
/** Changed statistics saved at once, in rows. */
export const modelStatsSaveMax = 200
/** Output assumed for a hold when neither caller nor endpoint nor context states a limit. */
export const outputTokensUnknown = 16_384
/** How much more output than a call allowed its provider is believed to count: for tokens that end an answer. */
export const outputBeyondLimitFactor = 1.05
/**
 * The most input tokens that are believed of a request of known length. A text token has at least one byte. Providers add
 * instructions of their own: up to 1,900 tokens were seen for a greeting of a dozen bytes, and 2,200 for all tools of a
 * computer.
 */
export const inputTokensPerByteMax = 1
export const inputTokensOfProviderMax = 4_096
/** The most that a picture was ever counted as: one in the finest tiles by a small model. */
export const imageTokensMax = 50_000
/** Times that a provider asks the model again within one call, with what its tools found; more are not believed. */
export const providerRoundsMax = 20
/** Held for input that cannot be counted before the call, unless the operator sets a figure: a document of some thirty pages. */
export const uncountedInputTokens = 32_000
/** Token counts above this are taken for a broken report when the endpoint states no context length. */
export const usageTokensMax = 20_000_000
/** Longest audio a provider may claim, one day; more is a broken report. */
export const usageAudioMillisecondsMax = 86_400_000
/** How far a provider's own figure may exceed the measured one and still be shown: it may count channels, or a minimum. */
export const reportedDurationFactorMax = 2
export const reportedDurationSlackMs = 60_000
/** Channels assumed for the hold of audio that does not tell them, where each is billed; a file has hardly more. */
export const audioChannelsUnknownHold = 2
/** More channels than any recording of speech has: a broken header or report. */
export const audioChannelsMax = 64
/** A surcharge above ten times what the audio costs is a typing error. */
export const surchargePercentMax = 1_000
/** Longest minimum and step, in seconds, by which a price may count the time of audio. */
export const timeRuleSecondsMax = 3_600
/** The length assumed for audio of unknown length: for the hold and, when no report came either, for the charge. */
export const audioMillisecondsUnknownHold = 3_600_000
export const audioMillisecondsUnknownCharge = 60_000
/** Most tokens per second of audio that any known tokenizer makes, heard or spoken. */
export const audioTokensPerSecondMax = 32
/** Most transcript tokens per second of audio, and most spoken audio tokens per character: fast speech, doubled. */
export const transcriptTokensPerSecondMax = 10
export const speechTokensPerCharacterMax = 4
/** Most spoken audio tokens besides: a word alone is surrounded by silence. */
export const speechTokensOfSilenceMax = 256
/** Refunds and corrections one charge may have. */
export const refundsMax = 16
/** How often the learned figures of models are saved. */
export const learningSaveEveryMs = 30_000
/** How often usage is rolled up; until then it is read from the tail, which the roll-up keeps small. */
export const rollupEveryMs = 10_000
/** Rows of the tail in one unit, so that captures never wait long for the writer, and units in one round. */
export const rollupRowsMax = 200
export const rollupPagesMax = 500
/** Characters that a provider may say it billed for one of the input, and beside them: UTF-8 has at most four bytes for one. */
export const charactersBilledFactor = 4
export const charactersBilledBeyond = 100
