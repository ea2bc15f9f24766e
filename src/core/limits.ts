/**
 * Every bound of the gateway, in one place, each with its reason. Durations end in Ms, sizes in Bytes.
 */

/** The contract's limit for a batch body, after decompression: exactly this many bytes are accepted. */
export const batchBodyBytesMax = 200_000_000
/** The contract's limit for a caller's `custom_id`, in code points. */
export const customIdLengthMax = 64
/** Items of one input segment: large enough to amortise a row, small enough to lease and redo. */
export const segmentItemsMax = 1_000
/** Uncompressed bytes of one input segment: what a worker holds of it. */
export const segmentBytesMax = 4_000_000
/** Largest JSON body of a live text call: long contexts with inline images fit, a stray upload does not. */
export const liveBodyBytesMax = 64_000_000
/** Largest audio upload; refused with 413 beyond. */
export const audioBodyBytesMax = 1_000_000_000
/** Headers and identifiers a caller may send. */
export const sessionIdLengthMax = 256
export const userIdLengthMax = 256
export const modelIdLengthMax = 256
/** A longer name of a provider's service tier is not written down. */
export const serviceTierLengthMax = 64
/** Rows one writer transaction may touch, and how long it may gather them, so that other writers get their turn. */
export const writerRowsMax = 200
export const writerGatherMs = 5
/** Writes that may wait for the writer before new ones are refused with a storage error. */
export const writerQueueMax = 20_000
/** How long a finished call waits for its capture to be durable before the response is cut. */
export const captureWaitMs = 10_000
/** How long a shortage of budget may be settled by recalling other owners' slices before a 402. */
export const recallWaitMs = 250
/** Least time between two write groups, in which writes gather: one wake-up of the writer costs as much as ten inserts. */
export const writerSpacingMs = 2
/** Rows of a group from which on the next one waits that long: below it there is little to gather, and a caller waits for it. */
export const writerBusyRows = 20
/** How long a commit may take before its caller is told that storage is unavailable; longer than any healthy disk. */
export const commitWaitMs = 30_000
/** How long a read may take on a database across the network before its connection is given up. */
export const readWaitMs = 10_000
/** Distinct statements kept translated and prepared; the program has a few hundred. */
export const statementCacheMax = 500
/** How long a connection may wait for SQLite's own lock; the file lock makes real waits rare. */
export const sqliteBusyMs = 5_000
/** Times a read is tried again when another process has the database for a moment, and the pause between. */
export const readTriesMax = 20
export const readPauseMs = 5
/** Times a PostgreSQL transaction is tried that deadlocked, could not be serialised or lost its connection; pauses double. */
export const transactionTriesMax = 5
export const transactionPauseMs = 20
/** Connections of one process to PostgreSQL for reads and writes; a hundred is the server's usual limit for everybody. */
export const postgresConnectionsMax = 8
/** How long opening a connection to PostgreSQL may take. */
export const postgresConnectMs = 5_000
/** How long an owner's lock on PostgreSQL must have been free: a live owner takes a lost lock again well within. */
export const postgresOwnerGraceMs = 5_000
/** Pause before a lost owner's lock is taken again; far below the grace that others give it. */
export const postgresOwnerPauseMs = 250
/** How long a migration that must have the database for itself waits for others to end: longer than a gateway's stop takes. */
export const migrationWaitMs = 60_000
/** And how long where a person waits at a command. */
export const migrationCommandWaitMs = 15_000
/** Pause between two looks at who still runs on the database. */
export const migrationPauseMs = 250
/** How long a migration may take: it goes through every row once, some hundred thousand in a second. */
export const migrationMsMax = 3_600_000
/** How long PostgreSQL remembers that an owner is dead; whoever asks later waits for `postgresOwnerGraceMs`. */
export const deadOwnerKeptMs = 3_600_000
/** Traces of owners that one look reads, and how long one that says nothing here is left alone. */
export const ownerTracesMax = 1_000
export const ownerTraceKeptMs = 86_400_000
/** Rows of a bulk insert that travel in one statement on PostgreSQL, so that its text stays within a few megabytes. */
export const bulkRowsMax = 1_000
/** Objects one page of a blob listing may name. */
export const blobListMax = 1_000
/** How long a blob store may be without the id that another process has just written into the database, and between two looks. */
export const blobStoreWaitMs = 2_000
export const blobStorePauseMs = 100
/** Payloads of batches that are looked for in a store: one that is there is proof enough. */
export const blobsLookedForMax = 5
/** Bytes read from a blob at a time, so that a slow reader holds no more. */
export const blobChunkBytes = 256 * 1024

/** Audio held in memory per upload; most voice messages fit, longer audio goes to a temporary file. */
export const spoolMemoryBytesMax = 1_000_000
/** How long after a start the audio of dead processes is looked for again: well beyond `postgresOwnerGraceMs`. */
export const spoolLookAgainMs = 30_000
/** First bytes kept for recognising a container; every signature lies within. */
export const audioHeadBytes = 64
/** One read of spooled audio. */
export const audioReadBytes = 65_536
/** Everything of an audio request but the audio: key terms, trace and provider options fit with room to spare. */
export const audioFieldsBytesMax = 1_000_000
/** Nesting of such a request, so that a stack never overflows. */
export const audioFieldsDepthMax = 64
/** A data URL's prefix: a MIME type with parameters. */
export const dataUrlPrefixBytesMax = 256
/** Parts of a multipart form: a hundred key terms, granularities and every other field, with room. */
export const multipartPartsMax = 256
/** Headers of one multipart part; a long file name fits. */
export const multipartHeaderBytesMax = 16_384
/** RFC 2046's bound for a multipart boundary. */
export const multipartBoundaryLengthMax = 70
/** The contract's bounds for key terms: how many, and code points of each. */
export const keytermsMax = 100
export const keytermLengthMax = 100
/** The contract's bound for an audio address. */
export const audioUrlLengthMax = 8_000
/** The contract's bounds for voice references: clips, code points of a transcript, bytes of a clip, length of an image address. */
export const referenceClipsMax = 3
export const referenceTextLengthMax = 10_000
export const referenceBytesMax = 15 * 1024 * 1024
export const imageUrlLengthMax = 2_048
/** Nobody transcribes more than a day in one piece; a longer figure is a broken header. */
export const audioDurationMsMax = 24 * 3_600_000
/** One read of a file that is measured. */
export const durationReadBytes = 32_768
/** Of frames that are added up one by one: so many at one go, within a few milliseconds. */
export const durationWalkBytes = 65_536
/** And so many in all: an hour of ordinary music costs a tenth of a second. What lies beyond is taken to be alike. */
export const durationWalkBytesMax = 64_000_000
/** And so many pieces of any kind: twelve hours of frames. Bytes that only look like pieces cost half a second then. */
export const durationPiecesMax = 2_000_000
export const durationPiecesAtOnce = 8_192
/** Tracks of one file that are told apart. */
export const durationTracksMax = 128
/** How many reads: all that is walked, with room for what has to be read twice where two windows meet. */
export const durationReadsMax = 4_096
/** Questions about what was read, and how many at one go: boxes of a few bytes would take one each, for minutes. */
export const durationQuestionsMax = 1_000_000
export const durationQuestionsAtOnce = 1_024
/** Speech held back until the capture is durable: at least a frame or 20 ms of samples, too little to be heard as a delay. */
export const speechTailBytes = 1_024
/** How far into an answer a first whole MPEG frame may lie, tags not counted. */
export const mpegSearchBytesMax = 65_536
/** Chunks of a WAV header before its samples. */
export const wavHeaderBytesMax = 65_536
/** Segments or words read from one transcript: a day of speech has fewer. */
export const transcriptPiecesMax = 500_000
/** Models one deployment's listing may name; the largest public listings have a few hundred. */
export const listedModelsMax = 5_000
/** How often the listings of all deployments are read again, and how long one may take. */
export const discoveryEveryMs = 600_000
export const discoveryWaitMs = 10_000
/** How soon a listing that failed is tried again, so that a local server started later is found. */
export const discoveryRetryMs = 30_000
/** Listings read at once. */
export const discoveryConcurrencyMax = 4
/** Models that a server is asked about one by one after one reading; the others are asked about after the next. */
export const inspectedModelsMax = 500
/** Model ids compared with one that is unknown, and how many near ones the message names. */
export const nearestCandidatesMax = 2_000
export const nearestShownMax = 3
/** Models one page of the catalog may hold, by the contract. */
export const modelPageMax = 1_000
/** Conversations that stick to an endpoint: per organization, organizations at all, and how long without use. */
export const stickyPerOrganizationMax = 1_000
export const stickyOrganizationsMax = 1_000
export const stickyIdleMs = 600_000
/** How long a failed endpoint stands behind the others, and the window of latency and throughput. */
export const failureMemoryMs = 30_000
export const performanceWindowMs = 300_000
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
/** How long a loaded key is used before it is read again, and how long it serves while storage is out of order. */
export const principalFreshMs = 2_000
export const principalStaleMs = 300_000
/** Keys kept loaded, and hashes remembered as unknown. */
export const principalCacheMax = 10_000
export const unknownKeyCacheMax = 10_000
/**
 * Lookups of keys that are none which one client address has at once, and how often it has one more: 30 within any minute.
 * How many keys of one address wait for theirs, for how long, and addresses watched.
 */
export const unknownKeyLookupsMax = 15
export const unknownKeyLookupEveryMs = 4_000
export const unknownKeysWaitingMax = 1_000
export const unknownKeyWaitMsMax = 30_000
export const authenticationAddressesMax = 10_000
/** Rates up to this many per minute are decided in the database, larger ones as shares in each process. */
export const databaseRateMax = 120
/** How often shares of large rates are divided anew, how long a silent process keeps counting, and limits tracked at once. */
export const rateShareEveryMs = 1_000
export const rateShareSilentMs = 3_000
export const rateLimitsMax = 20_000
/** Batch creations per minute of an organization that has no limit of its own. */
export const batchesPerMinuteDefault = 60
/** Length of a secret that somebody brings along, and entries of one list in a policy. */
export const importedKeyLengthMin = 16
export const importedKeyLengthMax = 512
export const policyListMax = 1_000
/** Times a change of stored rules is tried again because another one came between; operators are few. */
export const ruleChangeAttemptsMax = 5
/** Times a balance is read and corrected until it stands still; each needs a grant or a lease returned to be in vain. */
export const reconcileAttemptsMax = 10
/** Attempts one call may make over all its endpoints: enough for two rounds of three, few enough to end. */
export const attemptsMax = 6
/** Wait before the same endpoint is tried again when the provider named none. */
export const retryDelayMs = 250
/** Bytes read of an upstream's error body; what matters stands at its beginning. */
export const errorBodyBytesMax = 65_536
/** Largest whole JSON answer kept in memory: an embeddings answer of 2,048 vectors of 3,072 floats fits. */
export const answerBytesMax = 256_000_000
/** Silence after which a stream shows the caller a comment, so that proxies keep it open. */
export const keepAliveMs = 10_000
/** Nesting of one JSON body: real requests stay below 30, and every level costs a stack slot somewhere. */
export const jsonDepthMax = 200
/** Top-level members of one JSON object: the widest request format has about 60. */
export const jsonMembersMax = 500
/** Names of one JSON object that are compared one by one; of an object of more they are put into a set. */
export const memberNamesComparedMax = 24
/** The longest line whose characters are counted to say where JSON is broken; of a longer one its bytes are told. */
export const placeColumnBytesMax = 1_048_576
/** A request member up to this size is parsed whole; larger ones are checked for structure only, because parsing megabytes would stall everybody. */
export const memberParseBytesMax = 65_536
/** A member that is passed on and that some providers need changed, for which it is parsed: a schema of a thousand fields fits. */
export const memberPassedBytesMax = 524_288
/**
 * Of a request body that is parsed whole, everything but texts of 4 kB and more: those are only copied, but millions of
 * small values would stall everybody while they are made.
 */
export const bodyValuesBytesMax = 262_144
/** A member of a speech request besides its clips: its text would be spoken for 18 hours. */
export const speechFieldBytesMax = 1_000_000
/** Entries of a list in an audio request that is bounded no closer by the contract. */
export const audioListMax = 100
/** A request body from this length on is looked into without its longer texts, those from this length on, in steps of so many quotes. */
export const leanBodyBytesMin = 2_000_000
export const leanTextBytesMin = 256
export const leanStepQuotes = 4_096
/** A text of an answer from this length on is passed on as its bytes; shorter ones cost less to read and write again. */
export const heldTextBytesMin = 4_096
/** Strings of one answer looked through for such texts. An answer of many strings has few that are long, and is parsed whole. */
export const heldTextsSearchedMax = 1_000
/** Pairs of a request's `metadata`, by the contract. */
export const metadataPairsMax = 16
/** Messages of one chat request; longer conversations do not fit any model's context. */
export const messagesMax = 50_000
/** Bytes sampled to decide whether a text is mostly ASCII, spread over the whole, so that the cost does not grow with it. */
export const textSampleBytes = 256
/** One frame of an upstream event stream; a generated image as a data URL fits, an endless line does not. */
export const streamFrameBytesMax = 32_000_000
/** What a stream rewriter may hold back from the first finish reason on, in frames and bytes, and the latter of frames without choices. */
export const streamHeldFramesMax = 20_000
export const streamHeldBytesMax = 64_000_000
/** Choices of one streamed answer and tool calls of one choice that are told apart; more means a broken upstream. */
export const streamChoicesMax = 256
export const streamToolCallsMax = 10_000
/** Templates of a stream's frames kept at once, and learned without use before frames are simply parsed. */
export const streamTemplatesMax = 6
export const streamTemplatesUnusedMax = 64
/** Inputs of one embeddings request, OpenAI's limit and the largest known. */
export const embeddingInputsMax = 2_048
/** Counts of tokens beyond this are absurd and treated as not reported. */
export const tokenCountMax = 1_000_000_000
/** Code points of an upstream's own error text that a caller may see. */
export const upstreamMessageLengthMax = 400
/** Characters of a call's texts that a provider's words are compared with, so that the log repeats none of them; beyond it has none of those words. */
export const comparedTextLengthMax = 262_144
/** Longest wait an upstream may ask for; a longer one is shown and obeyed as this. */
export const retryAfterMsMax = 3_600_000
/** Longest silence in the middle of an upstream's body; a model that thinks between two pieces is quiet for minutes. */
export const upstreamIdleMs = 300_000
/** Effort of zstd: higher levels cost several times the CPU for a few percent of JSON. */
export const zstdCompressionLevel = 3
/** A whole transcription request: the largest audio as base64, its fields, and nothing endless around them. */
export const audioRequestBytesMax = 1_350_000_000
/** One item of a batch: it is held, decoded and parsed whole, so this bounds what one upload can hold; a larger one becomes that item's own error. */
export const batchItemBytesMax = 32_000_000
/**
 * Of such an item, everything but its longer texts: millions of small values would stall everybody while they are looked
 * through. A request that fills a context of a million tokens has less.
 */
export const batchItemValuesBytesMax = 4_000_000
/** Bytes of a batch body that are scanned in one go before others get their turn on the event loop. */
export const ingestSliceBytes = 262_144
/** Segments of one upload on their way to the disk at once: hides the time of an fsync. */
export const ingestWritesMax = 4
/** Uncompressed bytes of a segment that are compressed in one go, and how many such blocks of one upload may be on their way: with the item in hand these bound what ingest holds in memory. */
export const ingestBlockBytes = 524_288
export const ingestBlocksMax = 8
/** Bytes of what a batch's items demand that are priced before others get their turn; an entry has about six. */
export const demandBlockBytes = 16_384
/** Prices remembered while the items of a batch are priced: more lengths of input than most batches have. */
export const demandPricesMax = 10_000
/** Frames of items' bodies, everything but the messages, whose demand is remembered, and the bytes of one. */
export const demandFramesMax = 32
export const demandFrameBytesMax = 8_192
/** Uploads of batches read at once by one process; the bound on what scanning may hold in memory. */
export const ingestsMax = 8
/** How long an upload waits for its place, unread: shorter than load balancers keep a silent connection. */
export const uploadPlaceWaitMs = 30_000
/** After which one that got none is sent again. */
export const uploadPlaceRetrySeconds = 10
/** Decompression window of an upload, as a power of two: what RFC 9659 lets a sender of zstd expect. */
export const uploadWindowLog = 23
/** Bytes of one block of caller ids in memory. */
export const customIdBlockBytes = 1_048_576
/** Unknown field names that one audio request gets listed as dropped; a caller who sends more knows it. */
export const droppedNamesMax = 32
/** Body of a settings change: one flag. */
export const settingsBodyBytesMax = 65_536
/** How long a lease on a budget lasts without renewal, by the database's clock. */
export const leaseMs = 9_000
/** How long after sending its last renewal a process still grants, by its own clock: two thirds of the lease. */
export const leaseGrantMs = 6_000
/** How often leases in use are renewed and captures folded into their budgets. */
export const leaseRenewEveryMs = 900
/** A lease without any change is renewed only this often, well inside `leaseGrantMs`. */
export const leaseRestMs = 2_500
/** Unused for this long a lease is given back, so that an idle process writes nothing. */
export const leaseIdleMs = 3_000
/** How often expired leases and those of dead owners are looked for. */
export const leaseReapEveryMs = 2_000
/** What a lost lease held stays set aside this long: the longest call that may still be running. */
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
/** After a recall, slices are exactly one hold for this long, so that what was given back is not hoarded anew. */
export const recallExactMs = 1_000
/** Slices shrink to one hold when fewer typical holds than this are left, and never take a larger share than one in it. */
export const sliceShareMin = 8
/** Typical holds a slice is grown by: from, to, doubled when the last one lasted less than `sliceGrowWithinMs`. */
export const sliceGrowthStart = 16
export const sliceGrowthMax = 4_096
export const sliceGrowWithinMs = 500
/** Tries of one take against other processes before the caller is told to try again. */
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
/** How long a caller who is refused waits for that to be noted: a disk that takes nothing must not keep it waiting. */
export const refusalNoteMs = 500
/** Refused calls of one process that are noted beside the database while it is gone, and looked for there. */
export const refusalNotesMax = 1_000
/** How often waiting captures are checked for having waited too long. */
export const captureWatchMs = 500
/** Tries of one group after its leases or budgets turned out closed, before it is split. */
export const captureRedirectsMax = 4
/** How long stopping waits for captures to become durable and for leases to be given back. */
export const billingStopMs = 10_000
/** How long settling a batch's budget waits for other owners to close their leases. */
export const budgetSettleMs = 2_000
/** Models times organizations whose statistics are kept, samples each, and how many make them count. */
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
/** Input that is believed of a request whose every byte is known: no token is shorter than a byte, and providers add instructions of their own. */
export const inputBeyondEstimateFactor = 4
export const inputBeyondEstimateTokens = 4_096
/** Token counts above this are taken for a broken report when the endpoint states no context length. */
export const usageTokensMax = 20_000_000
/** Longest audio a provider may claim, one day; more is a broken report. */
export const usageAudioMillisecondsMax = 86_400_000
/** How far above what was measured a provider's own figure may lie and still be shown: it may count channels, or a minimum. */
export const reportedDurationFactorMax = 2
export const reportedDurationSlackMs = 60_000
/** Longest minimum and step, in seconds, by which a price may count the time of audio. */
export const timeRuleSecondsMax = 3_600
/** Audio assumed when nobody knows its length: for the hold, and, when no report came either, for the charge. */
export const audioMillisecondsUnknownHold = 3_600_000
export const audioMillisecondsUnknownCharge = 60_000
/** Most tokens per second of audio that any known tokenizer makes, heard or spoken. */
export const audioTokensPerSecondMax = 32
/** Most transcript tokens per second of audio, and most spoken audio tokens per character: fast speech, doubled. */
export const transcriptTokensPerSecondMax = 10
export const speechTokensPerCharacterMax = 4
/** Wait before a batch item that could not be started is looked at again when nobody named a time. */
export const batchRetryMs = 2_000
/** Times a unit with an unknown outcome is committed again before it is left as it is, and the wait between. */
export const uncertainCommitsMax = 5
export const uncertainWaitMs = 200
/** How long a key of an idempotent request is remembered: as long as the batch it made. */
export const idempotencyMs = 30 * 86_400_000
/** Characters of an `Idempotency-Key`. */
export const idempotencyKeyLengthMax = 256
/** Seconds after which a request whose twin is still running may ask again. */
export const idempotencyRetrySeconds = 5
/** Keys whose release failed and is tried again; beyond it they stay claimed until this process ends. */
export const idempotencyReleasesMax = 1_000
/** Results gathered in memory before they become a durable part: the most that a crash repeats. */
export const partBytesMax = 1_000_000
export const partGatherMs = 2_000
/**
 * How long a process, or a segment that it took over, has to live before all that counts as proven. Until then results
 * gather for a share of `partGatherMs` as large as the proven share of this time, but not less than `partGatherMinMs`.
 */
export const provenMs = 30_000
export const partGatherMinMs = 25
/** A compressed part up to this size lives in its row, which saves a small batch two fsyncs per part. */
export const partInlineBytesMax = 65_536
/** Uncompressed bytes of one block of a merged segment: what a reader of results holds at a time. */
export const mergedBlockBytes = 1_000_000
/** Results held at once while a segment is merged; beyond it the parts are read in several passes. Eight segments may be merged at once. */
export const mergePassBytes = 4_000_000
/** Output tokens expected of a batch item while nothing was learned of the organization's answers of its model. */
export const expectedOutputTokens = 1_000
/** Names of ignored members that an answer lists. */
export const droppedMembersMax = 50
/** Entries of a batch's `provider.only`; there are fewer providers. */
export const providersOnlyMax = 500
/** Rows of resampling coefficients: 24,000 against 44,100 Hz takes 80, against 22,050 Hz 160. */
export const resamplePhasesMax = 960
/** How often a progress bar is drawn anew, and a running batch asked about. */
export const progressEveryMs = 100
export const batchPollEveryMs = 1_000
/** How long commands wait for an answer to begin, and for a large upload to be accepted. */
export const cliRequestMs = 120_000
export const cliUploadMs = 3_600_000
/** Largest JSON answer a command reads whole; results of batches are streamed instead. */
export const cliAnswerBytesMax = 64_000_000
/** Longest watch over one batch: its window of a day, and an hour to finish. */
export const batchWatchMs = 25 * 3_600_000
/** Life of a key that a command makes for itself: longer than any batch it sends can run. */
export const temporaryKeyMs = 25 * 3_600_000
/** Times a command asks again after the connection broke, and the pause before the first, which doubles. */
export const cliTriesMax = 5
export const cliPauseMs = 500
/** How long a command waits for the ledger to show a call: captures are durable before an answer ends, so this is generous. */
export const receiptWaitMs = 3_000
export const receiptEveryMs = 50
/** Batches and usage lines that a command lists at once. */
export const cliListMax = 20
/** Blobs that `headrace doctor` looks at, so that it ends on any store. */
export const doctorBlobsMax = 100_000
/** Free disk space below which `headrace doctor` warns: two of the largest uploads with their results. */
export const diskFreeBytesMin = 1_000_000_000
/** Difference between the database's clock and this machine's that `headrace doctor` still takes for delay. */
export const clockDifferenceMsMax = 2_000
/** Average items whose worst case a batch's budget grows by when it is short: few, so that what others need is not tied up. */
export const enlargeItems = 8
/** Time between two looks at a budget that others were asked to give back to. */
export const acceptRetryMs = 50
/** What becomes of a batch within its completion window. */
export const completionWindowMs = 86_400_000
/** Refunds and corrections one charge may have. */
export const refundsMax = 16
/** Items of batches one process executes at once; live traffic comes first within each deployment anyway. */
export const batchItemsAtOnce = 256
/**
 * Items of batches that a process which is not proven may lose by its death: so many, and one more for every
 * `durablePerItemAtRisk` that it made durable. Ten lives of a hundred durable items repeat 28 each at most.
 */
export const itemsAtRiskStart = 16
export const durablePerItemAtRisk = 8
/** Segments one process works on at once; with their inputs and gathered results this bounds the worker's memory. */
export const segmentsAtOnce = 8
/** Of places for segments or items of batches that organizations share: what one of them may have, so that others find one. */
export function organizationShareOf(places: number): number {
  return Math.max(1, places - Math.ceil(places / 8))
}
/** How often it is noted at most what the waiting items of one segment wait for. */
export const waitingNoteEveryMs = 3_000
/** How long a segment stays leased without a renewal, and how often leases are renewed. */
export const segmentLeaseMs = 30_000
export const segmentRenewEveryMs = 8_000
/**
 * Tries of an item whose provider let it run out of time, beyond those of the live path: each may take long and be
 * charged for. And the first wait between any two tries; it doubles.
 */
export const itemTimeoutsMax = 4
export const itemRetryMs = 5_000
/** The same of an item whose provider failed, over ten minutes: a restart or an outage, but it may be the item itself. */
export const itemFailuresMax = 8
/**
 * The same of an item that was not let in, over fifty minutes: that says nothing of the item. A rate limit's window may be
 * full of its batch's other items, and a refused credential is for the operator to see to.
 */
export const itemRefusalsMax = 16
/** Bounds on how long an item is put back for. */
export const itemRestMinMs = 50
export const itemRestMaxMs = 300_000
/** A segment of which nothing can run for longer than this is given back, so that others get its place. */
export const segmentRestMs = 5_000
/** Gathered results beyond which no new item of the segment starts until a part is durable. */
export const gatheredBytesMax = 4_000_000
/**
 * How long finished results are held for a storage that refuses them before their batch fails: time for somebody to make
 * room on a disk. The same for a segment that cannot be read or merged once its batch is to be closed.
 */
export const resultsHoldMs = 3_600_000
/** The first wait before a part is tried again, and the longest. */
export const partCommitRetryMs = 200
export const partCommitRetryMaxMs = 5_000
/**
 * Questions whether a part became real, one every `partCommitRetryMaxMs`: until its segment goes on without it, and then
 * more than fit into a batch's window.
 */
export const partDoubtsMax = 30
export const partQuestionsMax = 20_000
/** How long items may finish after their batch was cancelled, and when the process stops. */
export const cancelGraceMs = 30_000
export const workerStopMs = 20_000
/** Longest wait before a segment that could not be read or merged is tried again; it doubles from `workerIdleMs`. */
export const segmentRetryMaxMs = 60_000
/** How often a worker looks for work that no signal announced. */
export const workerIdleMs = 1_000
/** Batches a worker looks at in one round. */
export const activeBatchesMax = 200
/** Keys that `headrace keys` reads at a time. */
export const cliKeysMax = 1_000
/** Whole time for fetching audio from a public address, redirects included. */
export const publicFetchMs = 120_000
/** Redirects followed when fetching from a public address. */
export const publicRedirectsMax = 5
/** Largest provider model listing that is read. */
export const listingBytesMax = 32_000_000
/** How long a stop waits for running calls before it ends them. */
export const stopWaitMs = 30_000
/** How long it waits for batches to leave off, their results included: longer than `workerStopMs`. */
export const batchesStopMs = 30_000
/** How long it waits for storage in the end, longer than `billingStopMs`: one that hangs shall not keep a process. */
export const storageStopMs = 15_000
/** How often what was learned of models is saved. */
export const learningSaveEveryMs = 30_000
/** Finished segments and parts whose rows are read at a time. */
export const mergedPageMax = 100
export const partsPageMax = 5
/** Bytes of results written to a reader at a time. */
export const resultsPieceBytes = 256 * 1024
/** How long one response may read results; blobs of deleted batches outlive it. */
export const resultsReadMsMax = 12 * 3_600_000
/** Batches per page of a list. */
export const batchListDefault = 20
export const batchListMax = 100
/** A batch's inputs and results are kept this long, and its blobs this long after its deletion. */
export const batchRetentionMs = 30 * 86_400_000
export const blobDeletionDelayMs = 86_400_000
/** A blob without a row is removed when it is this old and has been seen without one this long ago. */
export const orphanAgeMs = 2 * 86_400_000
export const orphanSecondLookMs = 3_600_000
/** Rows and blobs per page of cleaning up, pages per pass, and how often a pass is made. */
export const retentionPageMax = 200
export const retentionPagesMax = 500
export const retentionEveryMs = 3_600_000
/** Series one metric may have; further ones are counted together, so that names from outside cannot fill the memory. */
export const metricSeriesMax = 2_000
/** Ports that a process tries for its metrics, from the configured one on, where several share a port for their callers. */
export const metricsPortsMax = 100
/** How long a gateway that stops waits for the reader of its output, who may be stuck. */
export const outputWaitMs = 2_000
/** Log bytes gathered before they are written, how long they may wait, and how many may wait for a stuck reader. */
export const logGatherBytes = 8_192
export const logGatherMs = 200
export const logBacklogBytesMax = 4_000_000
/** Characters of one text in a log line; the rest is cut. */
export const logTextMax = 2_000
/** Segments given back unfinished whose items' tries a worker remembers. */
export const rememberedSegmentsMax = 1_000
/** Longest wait for a provider before it is tried again inside one call; a longer one goes back to the caller as a hint. */
export const retryWaitMsMax = 2_500
/** Silence after which the upload of a batch is given up; it occupies one of `ingestsMax` places. */
export const uploadIdleMs = 60_000
/** Bytes that come at least in so long a time of waiting for them: the pace of a modem. */
export const uploadBytesMin = 500_000
/** How long a caller may pause in the middle of a body, and take for one that is read whole: slow lines, not abandoned ones. */
export const bodyIdleMs = 60_000
export const bodyReadMs = 600_000
/** How long a connection may rest after an answer, or go on sending a body that was refused; load balancers rest for 60 s. */
export const connectionRestSeconds = 120
/** How often usage is rolled up; until then it is read from the tail, which the roll-up keeps small. */
export const rollupEveryMs = 10_000
/** Rows of the tail in one unit, so that captures never wait long for the writer, and units in one round. */
export const rollupRowsMax = 200
export const rollupPagesMax = 500
/** Days for which PostgreSQL has partitions before they are needed, and how often that is looked after. */
export const partitionDaysAhead = 7
export const partitionEveryMs = 3_600_000
/** How long making a partition waits for a lock, while those who read all partitions wait behind it. */
export const partitionLockMs = 2_000
/** Largest answer of known length taken in one read, in which nobody sees whether it still flows: 13 kB a second within `upstreamIdleMs`. */
export const readAtOnceBytesMax = 4_000_000
/** What a stream whose every answer has finished still waits for its terminator, and what it waits for its usage. */
export const streamEndWaitMs = 1_000
export const streamUsageWaitMs = 5_000
/** Reads of an upstream's body that are waiting already and are taken in before a stream begins; beyond, it is streamed. */
export const readsAtOnceMax = 8
/** The same in bytes; one read more may go beyond. */
export const bytesAtOnceMax = 262_144
/** Bytes of one read that a stream rewrites at a time, so that the rest waits unrewritten while its caller does not read. */
export const rewrittenBytesMax = 65_536
/** Memory that bodies for upstreams share as long as they are handed over; larger ones are streamed, in slices. */
export const sharedBodyBytesMax = 2_000_000
export const bodySliceBytes = 262_144
/** Largest body sent as bytes: with its headers it fits into the 16 kB that the server writes in one system call. */
export const corkedResponseBytesMax = 12_000
/** Bytes of a larger body that are gathered before they are sent, so that its head and its end share a system call. */
export const gatheredResponseBytes = 65_536
/** First piece of a larger body; leaves room for any headers in the same system call. */
export const corkedPieceBytes = 4_096
/** Fewest tokens that Anthropic lets a model think with. */
export const thinkingBudgetMin = 1_024
