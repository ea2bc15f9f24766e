/**
 * Text requests and answers, and the JSON that carries them. Durations end in Ms, sizes in Bytes. How long a body
 * may be stands in `http.ts`.
 */

/** Nesting of one JSON body: real requests stay below 30, and every level costs a stack slot somewhere. */
export const jsonDepthMax = 200
/** Top-level members of one JSON object: the widest request format has about 60. */
export const jsonMembersMax = 500
/** A request member up to this size is parsed whole; larger ones are checked for structure only, because parsing megabytes would stall everybody. */
export const memberParseBytesMax = 65_536
/** A member that is passed on and that some providers need changed, for which it is parsed: a schema of a thousand fields fits. */
export const memberPassedBytesMax = 524_288
/**
 * Everything but texts of 4 kB and more, in a request body that is parsed whole. Long texts are only copied, but creating
 * millions of small values would stall all other calls.
 */
export const bodyValuesBytesMax = 262_144
/** A body from this length on may have so many elements; and so many bytes of it are counted through in one go. */
export const elementsBytesMin = 200_000
export const elementStepBytes = 262_144
/** A request body of this length or more is never parsed whole, because that would stall all other calls for milliseconds. */
export const wholeBodyBytesMax = 2_000_000
/** Nor is one of this length or more, if its texts are long: a picture's bytes need no parsing. */
export const leanBodyBytesMin = 262_144
/** Texts from this length on are left out, in steps of so many quotes. */
export const leanTextBytesMin = 256
export const leanStepQuotes = 4_096
/** Of such a text's beginning, which tells a data URL's type or where a sealed thought is from, so many bytes at most are kept. */
export const leanHeadBytesMax = 384
/** Messages, or parts of a long one, of a request translated in several turns that are read or written in one of them. */
export const steppedMessagesMax = 4_096
/** Names of members left out that one request lists: a caller may make up tens of thousands. */
export const droppedNamesMax = 1_000
/** A text of an answer from this length on is passed on as its bytes; shorter ones cost less to read and write again. */
export const setAsideTextBytesMin = 4_096
/** Pairs of a request's `metadata`, by the contract. */
export const metadataPairsMax = 16
/** Messages of one chat request; longer conversations do not fit any model's context. */
export const messagesMax = 50_000
/** Bytes sampled to decide whether a text is mostly ASCII, spread over the whole, so that the cost does not grow with it. */
export const textSampleBytes = 256
/**
 * One frame of an upstream event stream: a model's whole answer in one frame fits. A frame is copied about seven times on
 * its way. A frame that begins with a picture may be larger, so that a generated picture fits.
 */
export const streamFrameBytesMax = 8_000_000
export const streamPictureFrameBytesMax = 32_000_000
/** Parts and citations of one translated frame, and of one whole answer: more would stall all other calls. */
export const framePartsMax = 2_000
export const answerPartsMax = 10_000
/** What a stream rewriter may hold back from the first finish reason on, in frames and bytes, and the latter of frames without choices. */
export const streamHeldFramesMax = 20_000
export const streamHeldBytesMax = 64_000_000
/** Choices of one streamed answer and tool calls of one choice that are told apart; more means a broken upstream. */
export const streamChoicesMax = 256
export const streamToolCallsMax = 10_000
/** Inputs of one embeddings request, OpenAI's limit and the largest known. */
export const embeddingInputsMax = 2_048
/** Characters of a call's texts that are compared with a provider's words, so that the log repeats none of them. Words of a longer call are not logged. */
export const comparedTextLengthMax = 262_144
/** Longest wait an upstream may ask for; a longer one is shown and obeyed as this. */
export const retryAfterMsMax = 3_600_000
