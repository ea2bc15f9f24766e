/**
 * Text requests and answers, and their JSON. Durations end in Ms, sizes in Bytes. The bounds of a body's length are in
 * `http.ts`.
 */

/** Nesting of one JSON body: real requests stay below 30, and every level costs a stack slot somewhere. */
export const jsonDepthMax = 200
/** Top-level members of one JSON object: the widest request format has about 60. */
export const jsonMembersMax = 500
/**
 * A request member up to this size is parsed whole. Of larger ones only the structure is checked, because parsing
 * megabytes would block the event loop.
 */
export const memberParseBytesMax = 65_536
/** The bound of a member that is parsed because some providers need it changed: a schema of a thousand fields fits. */
export const memberPassedBytesMax = 524_288
/**
 * A request body that is parsed whole may have this much besides texts of 4 kB and more. Long texts are only copied,
 * but creating millions of small values would block the event loop.
 */
export const bodyValuesBytesMax = 262_144
/** A request body of this length or more is never parsed whole, because that would stall all other calls for milliseconds. */
export const wholeBodyBytesMax = 2_000_000
/** From this length on a body with long texts is not parsed whole either: a picture's bytes need no parsing. */
export const leanBodyBytesMin = 262_144
/** Texts from this length on are left out. */
export const leanTextBytesMin = 256
/**
 * At most this much of the beginning of such a text is kept; it tells a data URL's type or the origin of a sealed
 * thought.
 */
export const leanHeadBytesMax = 384
/**
 * The messages, or parts of a long message, that one turn reads or writes when a request is translated in several
 * turns.
 */
export const steppedMessagesMax = 4_096
/** The names of dropped members that one request lists: a caller may invent tens of thousands. */
export const droppedNamesMax = 1_000
/** A text of an answer from this length on passes as bytes; reading and writing a shorter one costs less. */
export const setAsideTextBytesMin = 4_096
/** Pairs of a request's `metadata`, by the contract. */
export const metadataPairsMax = 16
/** Messages of one chat request; longer conversations do not fit any model's context. */
export const messagesMax = 50_000
/** Bytes sampled to decide whether a text is mostly ASCII, spread over the whole, so that the cost does not grow with it. */
export const textSampleBytes = 256
/**
 * One frame of a provider's event stream: a model's whole answer in one frame fits. A frame is copied about seven times
 * on its way. A frame that begins with a picture may be larger, so that a generated picture fits.
 */
export const streamFrameBytesMax = 8_000_000
export const streamPictureFrameBytesMax = 32_000_000
/** Parts and citations of one whole answer: more would block the event loop. */
export const answerPartsMax = 10_000
/**
 * The frames and bytes that a stream rewriter may hold back after the first finish reason. The bound of bytes also
 * applies to frames without choices.
 */
export const streamHeldFramesMax = 20_000
export const streamHeldBytesMax = 64_000_000
/** Choices of one streamed answer, and tool calls of one choice; more means a broken provider. */
export const streamChoicesMax = 256
export const streamToolCallsMax = 10_000
/** Inputs of one embeddings request, OpenAI's limit and the largest known. */
export const embeddingInputsMax = 2_048
/**
 * The characters of a call's texts that are compared with a provider's message, so that the log repeats none of them.
 * For a longer call the message is not logged.
 */
export const comparedTextLengthMax = 262_144
/** The longest wait that a provider may ask for; a longer one is cut to this, also in what is shown. */
export const retryAfterMsMax = 3_600_000
