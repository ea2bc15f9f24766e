/**
 * Sound in and out: uploads, spools, walks through frames, references of voices. Durations end in Ms, sizes in Bytes.
 */

/** Largest audio upload; refused with 413 beyond. */
export const audioBodyBytesMax = 1_000_000_000
/** First bytes that are kept to recognise a container; every signature is within them. */
export const audioHeadBytes = 64
/** First bytes by which text and sound are told apart. */
export const textSampleBytes = 512
/** One read of spooled audio, and one write: fewer and larger ones cost less for every byte. */
export const audioReadBytes = 262_144
export const audioWriteBytes = 524_288
/** Everything of an audio request but the audio: key terms, trace and provider options fit with room to spare. */
export const audioFieldsBytesMax = 1_000_000
/** Nesting of such a request, so that a stack never overflows. */
export const audioFieldsDepthMax = 64
/** The contract's bounds for voice references: clips, code points of a transcript, bytes of a clip, length of an image address. */
export const referenceClipsMax = 3
export const referenceTextLengthMax = 10_000
export const referenceBytesMax = 15 * 1024 * 1024
export const imageUrlLengthMax = 2_048
/** No caller transcribes more than a day in one piece; a longer figure is a broken header. */
export const audioDurationMsMax = 24 * 3_600_000
/** The bound for a whole file: an hour of ordinary music costs a tenth of a second. The rest is assumed to be alike. */
export const durationWalkBytesMax = 64_000_000
/** Tracks of one file that are told apart. */
export const durationTracksMax = 128
/** The number of reads: for everything that is walked, and for parts that must be read twice where two windows meet. */
export const durationReadsMax = 4_096
/** How far into an answer a first whole MPEG frame may lie, tags not counted. */
export const mpegSearchBytesMax = 65_536
/** Segments or words read from one transcript: a day of speech has fewer. */
export const transcriptPiecesMax = 500_000
/** Entries of a list in an audio request that is bounded no closer by the contract. */
export const audioListMax = 100
