/**
 * What a provider does wrong, and what must come of it. Written by hand from docs/errors.md, what docs/design.md has of money and errors, and
 * the public contract's words on errors; nothing here is read from the code under test.
 *
 * Two endpoints serve the model, the first of which is asked first. In the cases called `sound` only the first has the
 * fault, in those called `alone` both have it.
 */

/** An error as callers must see it. */
export interface ExpectedError {
  status: number
  /** The canonical type, the same in every format. */
  errorType: string
  /** Seconds, in the header. */
  retryAfter?: string
  /** Of the provider's own words, where they are the caller's business. */
  says?: string
}

/** How many requests the first and the second endpoint get. */
export type Asked = readonly [first: number, second: number]

/**
 * `elsewhere`: the second endpoint answers, and is paid; without it there is the error, and nothing is paid.
 * `refused`: the caller's own fault: nobody else is asked, nothing is paid.
 * `broken`: the stream had begun: the error is its last event, nobody else is asked, nothing is paid.
 * `answered`: the first endpoint's answer is good, and paid by its own counts.
 * `estimated`: the same, but its counts cannot be believed: paid by what was asked and seen, and marked.
 */
export type Outcome = 'elsewhere' | 'refused' | 'broken' | 'answered' | 'estimated'

/** The formats in which the providers of the table are asked. */
export type FaultUpstream = 'chat' | 'responses' | 'messages' | 'gemini' | 'converse' | 'cohere'

/** One fault with its consequences. */
export interface FaultRow {
  name: string
  /** In the simulator's words; `null` for a port at which nobody listens. */
  fault: string | null
  upstreams: readonly FaultUpstream[]
  kinds: readonly ('whole' | 'stream')[]
  outcome: Outcome
  error?: ExpectedError
  sound: Asked
  alone?: Asked
  /** The provider is silent until the gateway gives up: such cases wait together. */
  isSilent?: boolean
  /** So late that the stream has begun with a sign of life: an error is then an event of it. */
  isAfterKeepAlive?: boolean
}

const everywhere = ['chat', 'responses', 'messages', 'gemini', 'converse', 'cohere'] as const
/** Formats whose streams are server-sent events. */
const asEvents = everywhere.filter((upstream) => upstream !== 'converse')
/** Amazon tells a used-up account as a quota, which passes. */
const withAccounts = asEvents
const always = ['whole', 'stream'] as const
const streams = ['stream'] as const
const wholes = ['whole'] as const

const failed: ExpectedError = { status: 502, errorType: 'provider_unavailable' }
const overloaded: ExpectedError = { status: 529, errorType: 'provider_overloaded' }

/** Another endpoint is asked, and after it, where the failure may pass, both of them once more. */
function elsewhere(
  name: string,
  fault: string | null,
  error: ExpectedError,
  more: Partial<FaultRow> & { mayPass: boolean },
): FaultRow {
  const { mayPass, ...rest } = more
  const alone: Asked = mayPass ? [2, 2] : [1, 1]
  return {
    name,
    fault,
    upstreams: everywhere,
    kinds: always,
    outcome: 'elsewhere',
    error,
    sound: [1, 1],
    alone,
    ...rest,
  }
}

/** A dozen words one after the other, so that the caller has been shown some of them when it breaks. */
const slowly = 'tokens=12,chunk_delay=60'

function broken(name: string, fault: string, error = failed, more: Partial<FaultRow> = {}): FaultRow {
  return {
    name,
    fault: `${slowly},${fault}`,
    upstreams: everywhere,
    kinds: streams,
    outcome: 'broken',
    error,
    sound: [1, 0],
    ...more,
  }
}

function good(name: string, fault: string, more: Partial<FaultRow> = {}): FaultRow {
  return {
    name,
    fault,
    upstreams: everywhere,
    kinds: always,
    outcome: 'answered',
    sound: [1, 0],
    ...more,
  }
}

const estimated: Partial<FaultRow> = { outcome: 'estimated' }

export const faultTable: readonly FaultRow[] = [
  elsewhere(
    'a rate limit that names a wait',
    'status=429;retry_after=3',
    { status: 429, errorType: 'rate_limit_exceeded', retryAfter: '3' },
    { mayPass: false },
  ),
  elsewhere(
    'a rate limit with a wait that a caller can sit through',
    'status=429;retry_after_ms=100',
    { status: 429, errorType: 'rate_limit_exceeded', retryAfter: '1' },
    { mayPass: true },
  ),
  elsewhere('a key that the provider refuses', 'status=401', failed, { mayPass: false }),
  elsewhere('a key without a right', 'status=403;message=Not%20for%20this%20key', failed, { mayPass: false }),
  elsewhere('an account without money', 'insufficient_quota', failed, {
    mayPass: false,
    upstreams: withAccounts,
  }),
  elsewhere(
    'a model that is gone',
    'status=404;message=The%20model%20is%20gone',
    { status: 404, errorType: 'not_found' },
    { mayPass: false },
  ),
  elsewhere(
    'a request that is too large for this provider',
    'status=413',
    { status: 413, errorType: 'payload_too_large' },
    { mayPass: false },
  ),
  elsewhere(
    'a prompt beyond the context',
    'context_length',
    { status: 400, errorType: 'context_length_exceeded' },
    { mayPass: false },
  ),
  elsewhere('a failure of the provider', 'status=500', failed, { mayPass: true }),
  elsewhere('a page of a proxy', 'html_error', failed, { mayPass: true }),
  elsewhere('an overloaded provider', 'overloaded', overloaded, { mayPass: true }),
  elsewhere('an overloaded provider by its status', 'status=529', overloaded, { mayPass: true }),
  elsewhere('a connection that is refused', null, failed, { mayPass: true, sound: [0, 1], alone: [0, 0] }),
  elsewhere('a connection that closes before an answer', 'reset', failed, { mayPass: true }),
  elsewhere('an answer of nothing', 'empty_body', failed, { mayPass: true }),
  elsewhere('an error with a status of success', 'hidden_error', failed, { mayPass: true }),
  elsewhere('a body that is no JSON', 'malformed_json', failed, { mayPass: true, kinds: wholes }),
  elsewhere('half a body', 'truncate_json', failed, { mayPass: true, kinds: wholes }),
  elsewhere('a body that is cut off', 'cut_after=40', failed, { mayPass: true, kinds: wholes }),
  elsewhere('a body that stops coming', 'stall_after=40', failed, {
    mayPass: true,
    kinds: wholes,
    isSilent: true,
  }),
  elsewhere('a stream whose first frame is broken', 'malformed_json=0', failed, {
    mayPass: true,
    kinds: streams,
  }),
  elsewhere('a stream that ends in its first frame', 'truncate_json=0', failed, {
    mayPass: true,
    kinds: streams,
  }),
  elsewhere('a stream that begins with an error', 'error_chunk=0', failed, { mayPass: true, kinds: streams }),
  elsewhere(
    'a stream that begins with overload',
    'error_chunk=0;type=overloaded_error;message=Overloaded',
    overloaded,
    { mayPass: true, kinds: streams },
  ),
  elsewhere('a stream that is cut before its first frame', 'cut_after=0', failed, {
    mayPass: true,
    kinds: streams,
  }),
  elsewhere('a stream that never begins', 'stall', failed, { mayPass: true, kinds: streams, isSilent: true }),
  elsewhere(
    'headers that do not come in time',
    'hang',
    { status: 524, errorType: 'timeout' },
    { mayPass: false, isSilent: true },
  ),
  elsewhere('a failure behind signs of life', 'latency=700,status=500', failed, {
    mayPass: true,
    kinds: streams,
    isAfterKeepAlive: true,
  }),
  elsewhere(
    'a model that is gone, behind signs of life',
    'latency=700,status=404;message=The%20model%20is%20gone',
    { status: 404, errorType: 'not_found' },
    { mayPass: false, kinds: streams, isAfterKeepAlive: true },
  ),
  elsewhere(
    'a prompt beyond the context, behind signs of life',
    'latency=700,context_length',
    { status: 400, errorType: 'context_length_exceeded' },
    { mayPass: false, kinds: streams, isAfterKeepAlive: true },
  ),
  elsewhere('overload behind signs of life', 'latency=700,overloaded', overloaded, {
    mayPass: true,
    kinds: streams,
    isAfterKeepAlive: true,
  }),
  {
    name: 'a request that the provider refuses',
    fault: 'status=400;message=Turnips%20are%20not%20served',
    upstreams: everywhere,
    kinds: always,
    outcome: 'refused',
    error: { status: 400, errorType: 'invalid_request', says: 'Turnips are not served' },
    sound: [1, 0],
  },
  broken('a stream that is cut off', 'cut_after=8'),
  broken('a stream that ends in the middle of a frame', 'truncate_json=8'),
  broken('a stream with a broken frame', 'malformed_json=8'),
  broken('an error inside a stream', 'error_chunk=8'),
  broken('an error inside a stream of responses, as it is documented', 'error_chunk=8;form=flat', failed, {
    upstreams: ['responses'],
  }),
  broken('a response that fails without an error event', 'error_chunk=8;form=failed', failed, {
    upstreams: ['responses'],
  }),
  broken('overload inside a stream', 'error_chunk=8;type=overloaded_error;message=Overloaded', overloaded),
  broken('a stream that stops coming', 'stall_after=8', failed, { isSilent: true }),
  good('an answer of another content type', 'wrong_content_type'),
  good('an answer without words', 'text='),
  good('an answer that begins late', 'latency=300'),
  good('a stream without its last event', 'no_done', { kinds: streams, upstreams: ['chat', 'messages'] }),
  // Theirs alone says that the answer is whole, and what it took.
  broken('a stream of responses without its last event', 'no_done', failed, { upstreams: ['responses'] }),
  good('a stream with comments, other line ends and small reads', 'comments,crlf,split=7', {
    kinds: streams,
    upstreams: asEvents,
  }),
  good('binary frames in small reads', 'split=7', { kinds: streams, upstreams: ['converse'] }),
  good('an event of a kind that nobody knows', 'unknown_event', {
    kinds: streams,
    upstreams: ['responses', 'messages'],
  }),
  good('a stream that begins twice', 'duplicate_start', { kinds: streams, upstreams: ['messages'] }),
  good('signs of life of the provider', 'pings=20', { kinds: streams, upstreams: ['responses', 'messages'] }),
  good('a count of input that the end corrects', 'start_input_tokens=1', {
    kinds: streams,
    upstreams: ['messages'],
  }),
  good('a first frame without choices', 'empty_choices_first', { kinds: streams, upstreams: ['chat'] }),
  good('counts beside the finish reason', 'usage=with_finish', { kinds: streams, upstreams: ['chat'] }),
  good('counts that only the first event has', 'usage=output_only', {
    kinds: streams,
    upstreams: ['messages'],
  }),
  elsewhere('a key that is refused by the reason in the body alone', 'bad_key_400=gemini', failed, {
    mayPass: false,
    upstreams: ['gemini'],
  }),
  good('no counts', 'usage=missing', estimated),
  good('counts that are null', 'usage=null', estimated),
  good('counts of nothing beside an answer', 'usage=zero', estimated),
  good('counts below zero', 'usage=negative', estimated),
  good('counts beyond any context', 'usage=absurd', estimated),
  good('counts that are text', 'usage=text', estimated),
]

/** Anthropic's word for a status. */
export const anthropicTypes: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  502: 'api_error',
  524: 'timeout_error',
  529: 'overloaded_error',
}

/** The word of the closed list that a failed response has for these types; every other one is `server_error`. */
export const responsesCodes: Readonly<Record<string, string>> = {
  rate_limit_exceeded: 'rate_limit_exceeded',
  invalid_request: 'invalid_prompt',
  context_length_exceeded: 'invalid_prompt',
}

const passedOn = new Set([
  'a rate limit that names a wait',
  'a failure of the provider',
  'an overloaded provider',
  'headers that do not come in time',
  'a stream that never begins',
  'a stream whose first frame is broken',
  'a stream that is cut before its first frame',
])

/** The rows after which a provider of any other format answers in the first one's place. */
export const fallbackTable: readonly FaultRow[] = faultTable.filter(({ name }) => passedOn.has(name))
