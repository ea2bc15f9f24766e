/**
 * The bodies, headers and connections of callers, and how answers leave. Durations end in Ms, sizes in Bytes.
 */

/** Largest JSON body of a live text call: long contexts with inline images fit, a stray upload does not. */
export const liveBodyBytesMax = 64_000_000
/** Headers and identifiers a caller may send. */
export const sessionIdLengthMax = 256
export const userIdLengthMax = 256
export const modelIdLengthMax = 256
/** The kept length of the headers with an application's name and address; the rest is cut off. */
export const attributionLengthMax = 256
/** A longer name of a provider's service tier is not written down. */
export const serviceTierLengthMax = 64
/** After so much silence a stream sends its caller a comment, so that proxies keep the connection open. */
export const keepAliveMs = 10_000
/** Body of a settings change: one flag. */
export const settingsBodyBytesMax = 65_536
/** How long a stop waits for running calls before it ends them. */
export const stopWaitMs = 30_000
/** Silence after which the upload of a batch is given up; it occupies one of `ingestsMax` places. */
export const uploadIdleMs = 60_000
/** Bytes that come at least in so long a time of waiting for them: the pace of a modem. */
export const uploadBytesMin = 500_000
/** How long a caller may pause inside a body, and how long it may take for a body that is read whole: for slow lines. */
export const bodyIdleMs = 60_000
export const bodyReadMs = 600_000
/** How long a connection may rest after an answer, or go on sending a body that was refused; load balancers rest for 60 s. */
export const connectionRestSeconds = 120
/** Memory that bodies for upstreams share as long as they are handed over; larger ones are streamed, in slices. */
export const sharedBodyBytesMax = 2_000_000
export const bodySliceBytes = 262_144
/** Largest body sent as bytes: with its headers it fits into the 16 kB that the server writes in one system call. */
export const corkedResponseBytesMax = 12_000
/** Bytes of a larger body that are gathered before sending, so that its head and its end share a system call. */
export const gatheredResponseBytes = 65_536
/** First piece of a larger body; leaves room for any headers in the same system call. */
export const corkedPieceBytes = 4_096
/** Descriptors of one call: its caller's connection and one to a provider. */
export const descriptorsOfCall = 2
/** Descriptors that calls may not use: so many, or this part of the limit but no more than `descriptorsUsual`. */
export const descriptorsKept = 32
export const descriptorsKeptPart = 8
/** A process with a lower limit logs a warning: about 2,000 calls at once. */
export const descriptorsUsual = 4_096
/** With fewer left a connection that fails has failed for that. */
export const descriptorsLeftMin = 8
/** How long a count of the descriptors is used. */
export const descriptorLookMs = 50
/** Descriptors of a process beside its calls: storage, threads, what listens. */
export const descriptorsBeside = 40
/** Bodies below this are not counted: a thousand of them at once take 64 MB. */
export const countedBodyBytesMin = 65_536
/** Measured memory of a call for each byte of its body: the body, the request to the provider, and garbage not yet collected. */
export const textBodyCopies = 3
/** The same for speech, whose clips are decoded and encoded again. */
export const speechBodyCopies = 6
/** The part of its memory that the bodies of a process take by default, and the least that an operator may leave them. */
export const bodyMemoryPart = 4
export const bodyMemoryMegabytesMin = 64
/** How long a body waits for memory, and how many do; further ones are refused at once. */
export const bodyMemoryWaitMs = 10_000
export const bodiesWaitingMax = 256
/** Memory that a body of unstated length takes at a time. */
export const bodyMemoryStepBytes = 1_000_000
