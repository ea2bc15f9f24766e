/**
 * The bodies, headers and connections of callers, and the sending of answers. Durations end in Ms, sizes in Bytes. The
 * bounds of nesting and members are in `text.ts`.
 */

/** Largest JSON body of a live text call: long contexts with inline images fit, a stray upload does not. */
export const liveBodyBytesMax = 64_000_000
/** Headers and identifiers a caller may send. */
export const sessionIdLengthMax = 256
export const userIdLengthMax = 256
export const modelIdLengthMax = 256
/** A longer name of a provider's service tier is not stored. */
export const serviceTierLengthMax = 64
/** The buffer that bodies for providers share while they are handed over; larger bodies are streamed, in slices. */
export const sharedBodyBytesMax = 2_000_000
export const bodySliceBytes = 262_144
/** Bytes of a larger body that are gathered before sending, so that its head and its end share a system call. */
export const gatheredResponseBytes = 65_536
/** The descriptors of one call: its caller's connection and one to a provider. */
export const descriptorsOfCall = 2
/** A process with a lower limit logs a warning: about 2,000 calls at once. */
export const descriptorsUsual = 4_096
/** Bodies below this are not counted: a thousand of them at once take 64 MB. */
export const countedBodyBytesMin = 65_536
/** Measured memory of a call for each byte of its body: the body, the request to the provider, and garbage not yet collected. */
export const textBodyCopies = 3
