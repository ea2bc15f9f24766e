/** Audio in and out: uploads, spools, walks through frames, voice references. Durations end in Ms, sizes in Bytes. */

/** Largest audio upload; refused with 413 beyond. */
export const audioBodyBytesMax = 1_000_000_000
/** First bytes that are kept to recognise a container; every signature is within them. */
export const audioHeadBytes = 64
/** The first bytes that decide between text and sound. */
export const textSampleBytes = 512
/** The size of one read of spooled audio: fewer, larger ones cost less per byte. */
export const audioReadBytes = 262_144
/** All of an audio request except the audio: key terms, trace and provider options fit easily. */
export const audioFieldsBytesMax = 1_000_000
/** The nesting of such a request, so that the stack cannot overflow. */
export const audioFieldsDepthMax = 64
/** The contract's bound for the bytes of a clip of a voice reference. */
export const referenceBytesMax = 15 * 1024 * 1024
/** No caller transcribes more than a day in one piece; a longer figure is a broken header. */
export const audioDurationMsMax = 24 * 3_600_000
/**
 * The bound for walking a file: an hour of ordinary music costs a tenth of a second. The rest is assumed to be alike.
 */
export const durationWalkBytesMax = 64_000_000
/** The most tracks of one file that are distinguished. */
export const durationTracksMax = 128
/** The bound of reads: for the whole walk, and for parts that are read twice because two windows meet in them. */
export const durationReadsMax = 4_096
/** How far into an answer the first whole MPEG frame may lie, tags not counted. */
export const mpegSearchBytesMax = 65_536
/** Segments or words read from one transcript: a day of speech has fewer. */
export const transcriptPiecesMax = 500_000
/** Entries of a list in an audio request for which the contract has no lower bound. */
export const audioListMax = 100
