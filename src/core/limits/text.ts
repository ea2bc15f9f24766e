/**
 * Text requests and answers, and the JSON that carries them. Durations end in Ms, sizes in Bytes.
 */

/** Nesting of one JSON body: real requests stay below 30, and every level costs a stack slot somewhere. */
export const jsonDepthMax = 200
/** Top-level members of one JSON object: the widest request format has about 60. */
export const jsonMembersMax = 500
/** Names of one JSON object that are compared one by one; of an object of more they are put into a set. */
export const memberNamesComparedMax = 24
/** The longest line in which the characters are counted to say where JSON is broken; in a longer one the bytes are counted. */
export const placeColumnBytesMax = 1_048_576
/** A request member up to this size is parsed whole; larger ones are checked for structure only, because parsing megabytes would stall everybody. */
export const memberParseBytesMax = 65_536
/** A member that is passed on and that some providers need changed, for which it is parsed: a schema of a thousand fields fits. */
export const memberPassedBytesMax = 524_288
/**
 * Everything but texts of 4 kB and more, in a request body that is parsed whole. Long texts are only copied, but creating
 * millions of small values would stall all other calls.
 */
export const bodyValuesBytesMax = 262_144
/** Messages, parts, calls and tools of one request together: four times as many as the longest conversation of an agent. */
export const requestElementsMax = 100_000
/** All objects and lists of a request of many elements, those inside of them included. */
export const requestObjectsMax = 1_000_000
/** A body from this length on may have so many elements; and so many bytes of it are counted through in one go. */
export const elementsBytesMin = 200_000
export const elementStepBytes = 262_144
/** A request body of this length or more is never parsed whole, because that would stall all other calls for milliseconds. */
export const wholeBodyBytesMax = 2_000_000
/** Nor is one of this length or more, if its texts are long: a picture's bytes need no parsing. */
export const leanBodyBytesMin = 262_144
/** A request of so many bytes, its longer texts not counted, is translated in several turns. */
export const steppedBodyBytesMin = 262_144
/** The part of a body that decides this, and the length of a long text: parsing a shorter one costs less than leaving it out. */
export const leanProbeBytes = 32_768
export const leanProbeTextBytesMin = 2_048
/** Texts from this length on are left out, in steps of so many quotes. */
export const leanTextBytesMin = 256
export const leanStepQuotes = 4_096
/** Of such a text's beginning, which tells a data URL's type or where a sealed thought is from, so many bytes at most are kept. */
export const leanHeadBytesMax = 384
/** A large body that must be read all the same is read in slices of so many bytes. */
export const leanSliceBytes = 262_144
/** Messages, or parts of a long one, of a request translated in several turns that are read or written in one of them. */
export const steppedMessagesMax = 4_096
/** Names of members left out that one request lists: a caller may make up tens of thousands. */
export const droppedNamesMax = 1_000
/** A text of an answer from this length on is passed on as its bytes; shorter ones cost less to read and write again. */
export const setAsideTextBytesMin = 4_096
/** Strings of one answer looked through for such texts. An answer of many strings has few that are long, and is parsed whole. */
export const setAsideTextsSearchedMax = 1_000
/** Characters of a JSON text in which numbers that JavaScript cannot hold are looked for: its values cost a fifth of a microsecond each then. */
export const exactJsonLengthMax = 524_288
/** Pairs of a request's `metadata`, by the contract. */
export const metadataPairsMax = 16
/** Characters of a tool's name, OpenAI's limit and the least known. */
export const toolNameLengthMax = 64
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
/** Characters of one piece of translated text; some formats repeat it up to five times. */
export const streamPieceLengthMax = 4_000_000
/** Parts and citations of one translated frame, and of one whole answer: more would stall all other calls. */
export const framePartsMax = 2_000
export const answerPartsMax = 10_000
/** What a stream rewriter may hold back from the first finish reason on, in frames and bytes, and the latter of frames without choices. */
export const streamHeldFramesMax = 20_000
export const streamHeldBytesMax = 64_000_000
/** Choices of one streamed answer and tool calls of one choice that are told apart; more means a broken upstream. */
export const streamChoicesMax = 256
export const streamToolCallsMax = 10_000
/** Texts of one choice that a citation may still be of after they have ended, and citations that wait for the first text. */
export const streamTextsCitedMax = 1_000
/** Templates of a stream's frames kept at once, and learned without use before frames are simply parsed. */
export const streamTemplatesMax = 6
export const streamTemplatesUnusedMax = 64
/** Inputs of one embeddings request, OpenAI's limit and the largest known. */
export const embeddingInputsMax = 2_048
/** Counts of tokens beyond this are absurd and treated as not reported. */
export const tokenCountMax = 1_000_000_000
/** Code points of an upstream's own error text that a caller may see. */
export const upstreamMessageLengthMax = 400
/** Characters of a call's texts that are compared with a provider's words, so that the log repeats none of them. Words of a longer call are not logged. */
export const comparedTextLengthMax = 262_144
/** Longest wait an upstream may ask for; a longer one is shown and obeyed as this. */
export const retryAfterMsMax = 3_600_000
/** Steps of checking an answer against its schema, which a caller's references could make endless: some milliseconds. */
export const outputCheckStepsMax = 100_000
/** Fewest tokens that Anthropic lets a model think with. */
export const thinkingBudgetMin = 1_024

/** Characters that are kept back of a text because they may be of a code fence around it. */
export const fenceHeldLengthMax = 256
