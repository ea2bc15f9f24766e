/**
 * Every bound of the simulator, in one place, each with its reason. Durations end in Ms, sizes in Bytes.
 */

/** Largest JSON body: the largest a gateway would pass on, so that the gateway's own limit is the one that is tested. */
export const jsonBodyBytesMax = 64_000_000
/** OpenAI's documented limit of an audio upload; a setting of the admin endpoint changes it per mount. */
export const uploadBytesMax = 25 * 1024 * 1024
/** How long a simulated provider waits for a file that it fetches from an address. */
export const remoteFetchMs = 20_000
/** An upload above this is kept in a temporary file, so that many uploads at once stay small in memory. */
export const uploadMemoryBytesMax = 1024 * 1024
/** Parts, text bytes and header bytes of one multipart form: far above what any documented field needs. */
export const multipartPartsMax = 256
export const multipartFieldBytesMax = 256 * 1024
export const multipartHeaderBytesMax = 16 * 1024
/** Bytes kept from the start of a file: enough for every signature and for a WAV header with a few extra chunks. */
export const fileHeadBytesMax = 4096

/** Simulated providers in one process; a name is created by its first request. */
export const mountsMax = 1_000
/** Rules of one mount: a rule per item of a test batch fits. */
export const faultRulesMax = 1_000
/** Characters of one fault specification, which may carry a scripted answer. */
export const faultSpecCharactersMax = 16_384
/** Scripts of one mount, and turns of one script: an agent's longest task in a test has some dozens of turns. */
export const scriptsMax = 1_000
export const scriptTurnsMax = 1_000
/** Prefixes of prompts that one mount remembers; the oldest goes when one more comes. */
export const cachedPrefixesMax = 10_000
/** Answers of Responses that one mount keeps; the oldest goes when one more comes. */
export const storedResponsesMax = 1_000
/** Files that one mount of Gemini's API keeps; the oldest goes when one more comes. */
export const keptFilesMax = 1_000
/** A whole request to Google, inline data included. */
export const googleRequestBytesMax = 20 * 1000 * 1000
/** The limit of a separate file, as commonly documented. */
export const googleFileBytesMax = 2_000_000_000
/** Conversations that one mount holds for its callers; the oldest goes when one more comes. */
export const threadsMax = 1_000
/** The bodies whose random draws one mount remembers; beyond this the draws restart. */
export const faultDrawsMax = 100_000
/** The longest wait that a fault may set, and the end of a stall or hang when the caller does not leave. */
export const faultWaitMsMax = 900_000
/** The most output tokens a scripted answer may have. */
export const scriptedTokensMax = 1_000_000

/** Requests kept per mount for a test to read back, and the bytes kept of each body unless a setting says otherwise. */
export const recordedRequestsMax = 200
export const recordedBodyBytes = 64 * 1024
/** The most that the setting may keep: a request of a coding agent with its whole history fits. */
export const recordedBodyBytesMax = 4 * 1024 * 1024
/** Hang-ups kept per mount with their times; the count goes on beyond it. */
export const recordedHangUpsMax = 200
/** Different paths or models counted per mount, so that random names cannot grow the counters without end. */
export const countedNamesMax = 1_000

/** Speech programs running at once: the simulator shares its machine with what it is testing. */
export const childProcessesMax = 2
/** Calls that may wait for a speech program before the scripted answer is given instead. */
export const childQueueMax = 64
/** How long one speech program may run. */
export const childTimeoutMs = 60_000
/** Bytes read from a program whose whole output is wanted at once. */
export const childOutputBytesMax = 4 * 1024 * 1024
/** Audio longer than this is answered with the script: recognising it would take about as long as it plays. */
export const recognisedSecondsMax = 120
/** Sounds whose words are kept. */
export const heardSoundsMax = 100
/** Depth to which an example is made from a JSON schema; a schema that refers to itself ends here. */
export const schemaDepthMax = 16
/** Embedding inputs, tokens of one input, and tokens of one call, as OpenAI documents them. */
export const embeddingInputsMax = 2048
export const embeddingInputTokensMax = 8192
export const embeddingCallTokensMax = 300_000
/** Prompts of one call of legacy completions. */
export const completionPromptsMax = 2048
/** Characters of one speech input, as OpenAI documents them. */
export const speechCharactersMax = 4096
/** Jobs, and uploads for them, that one mount keeps. */
export const audioJobsMax = 100_000
/** Polls of a job before it ends, unless the mount's setting says otherwise: one finds it queued, one running. */
export const usualJobLooks = 2
export const jobLooksMax = 1_000
/** Files for OpenAI's batches, and batches, that one mount keeps; and the largest such file, as OpenAI documents it. */
export const storedFilesMax = 10_000
export const storedBatchesMax = 10_000
export const batchFileBytesMax = 200_000_000
