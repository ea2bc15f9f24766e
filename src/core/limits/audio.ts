/**
 * Sound in and out: uploads, spools, walks through frames, references of voices. Durations end in Ms, sizes in Bytes.
 */

/** Largest audio upload; refused with 413 beyond. */
export const audioBodyBytesMax = 1_000_000_000
/** Audio held in memory per upload; most voice messages fit, longer audio goes to a temporary file. */
export const spoolMemoryBytesMax = 1_000_000
/** How long after a start the audio of dead processes is looked for again: well beyond `postgresOwnerGraceMs`. */
export const spoolLookAgainMs = 30_000
/** First bytes that are kept to recognise a container; every signature is within them. */
export const audioHeadBytes = 64
/** Reads that tell a format: the beginning, and what follows a leading tag. */
export const recognizeReadsMax = 16
/** First bytes by which text and sound are told apart. */
export const textSampleBytes = 512
/** Audio of all calls of this process that is fetched from addresses at once; further calls wait. */
export const audioFetchesMax = 32
/** One read of spooled audio, and one write: fewer and larger ones cost less for every byte. */
export const audioReadBytes = 262_144
export const audioWriteBytes = 524_288
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
/** No caller transcribes more than a day in one piece; a longer figure is a broken header. */
export const audioDurationMsMax = 24 * 3_600_000
/** One read of a file that is measured. */
export const durationReadBytes = 32_768
/** Of frames that are added up one by one: so many at one go, within a few milliseconds. */
export const durationWalkBytes = 262_144
/** The bound for a whole file: an hour of ordinary music costs a tenth of a second. The rest is assumed to be alike. */
export const durationWalkBytesMax = 64_000_000
/** And so many pieces of any kind: twelve hours of frames. Bytes that only look like pieces cost half a second then. */
export const durationPiecesMax = 2_000_000
export const durationPiecesAtOnce = 8_192
/** Tracks of one file that are told apart. */
export const durationTracksMax = 128
/** The number of reads: for everything that is walked, and for parts that must be read twice where two windows meet. */
export const durationReadsMax = 4_096
/** Lookups in read data, and how many before other work gets a turn: a file of tiny boxes would need one each, for minutes. */
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
/** How many letters ahead a word of a transcript is looked for in its text. */
export const transcriptSearchLength = 256
/** Entities of a transcript that do not occur in its text; after so many, no further one is searched for. */
export const entitiesMissedMax = 200
/** A member of a speech request besides its clips: its text would be spoken for 18 hours. */
export const speechFieldBytesMax = 1_000_000
/** Entries of a list in an audio request that is bounded no closer by the contract. */
export const audioListMax = 100
/** A whole transcription request: the largest audio as base64, and a bounded amount for its other fields. */
export const audioRequestBytesMax = 1_350_000_000
/** Rows of resampling coefficients: 24,000 against 44,100 Hz takes 80, against 22,050 Hz 160. */
export const resamplePhasesMax = 960
/** One piece of a speech body that is unwrapped and converted at one go, within a few milliseconds. */
export const speechPieceBytes = 65_536
/** The share of one turn of the event loop that the pieces of all speech streams may use together. */
export const speechTurnMs = 4
/** Everything of one JSON document of a speech answer but its sound: the times of each letter of a long text fit. */
export const speechFieldsBytesMax = 4_000_000
/** Sound that came before its own description. After so much, it counts as the format that the provider documents. */
export const speechUndescribedBytesMax = 262_144
/** Samples encoded at once: a quarter of a second, so that a stream needs little memory. */
export const mp3SliceSamples = 5_760
/** Bytes of mp3 that are decoded at one go: two frames of usual speech, within which its rate does not change. */
export const mp3SliceBytes = 1_024
/** One piece of a body of mp3 that is decoded: at the lowest rate there is, eight seconds of sound. */
export const mp3PieceBytes = 8_192
/** Streams that are converted from or to mp3 at once; each holds half a megabyte while it lasts. */
export const mp3ConversionsMax = 512
/** Bytes that the converting thread takes and gives before it collects its garbage: half a second of work. */
export const mp3CollectBytes = 4_000_000
