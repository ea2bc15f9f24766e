/**
 * What a batch, its results and their bodies look like, member by member. Written by hand from the specification's tables
 * (2.1 to 2.4) and, for responses, from what the public contract's client requires; nothing is read from the code under
 * test.
 */

/** Returns the problems of a value at a place; empty when there are none. */
type Check = (value: unknown, place: string) => string[]

interface Members {
  /** Members that must be present. */
  required?: Readonly<Record<string, Check>>
  /** Members that may be absent. */
  optional?: Readonly<Record<string, Check>>
}

function that(isIt: (value: unknown) => boolean, what: string): Check {
  return (value, place) => (isIt(value) ? [] : [`${place} is ${show(value)}, not ${what}`])
}

function show(value: unknown): string {
  return (JSON.stringify(value) ?? 'absent').slice(0, 120)
}

const text = that((value) => typeof value === 'string', 'a text')
const filled = that((value) => typeof value === 'string' && value !== '', 'a text with something in it')
const whole = that((value) => Number.isSafeInteger(value), 'a whole number')
const number = that((value) => typeof value === 'number' && Number.isFinite(value), 'a number')
const flag = that((value) => typeof value === 'boolean', 'true or false')
const anything: Check = () => []

function is(...values: readonly unknown[]): Check {
  return that((value) => values.includes(value), values.map((value) => JSON.stringify(value)).join(' or '))
}

function orNull(check: Check): Check {
  return (value, place) => (value === null ? [] : check(value, place))
}

function listOf(check: Check): Check {
  return (value, place) =>
    Array.isArray(value)
      ? value.flatMap((entry: unknown, index) => check(entry, `${place}[${index}]`))
      : [`${place} is ${show(value)}, not a list`]
}

function object({ required = {}, optional = {} }: Members): Check {
  return (value, place) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return [`${place} is ${show(value)}, not an object`]
    const members = value as Readonly<Record<string, unknown>>
    return [
      ...Object.entries(required).flatMap(([name, check]) =>
        name in members ? check(members[name], `${place}.${name}`) : [`${place}.${name} is missing`],
      ),
      ...Object.entries(optional).flatMap(([name, check]) =>
        name in members ? check(members[name], `${place}.${name}`) : [],
      ),
    ]
  }
}

/** An object of one of several types, distinguished by its member `type`. */
function oneOf(kinds: Readonly<Record<string, Members>>): Check {
  return (value, place) => {
    const type = String((value as { type?: unknown } | null)?.type)
    const members = kinds[type]
    return members ? object(members)(value, place) : [`${place}.type is ${type}`]
  }
}

const plain = object({})
const counts = (names: readonly string[]): Check =>
  object({ optional: Object.fromEntries(names.map((name) => [name, orNull(whole)])) })

const completionDetails = orNull(counts(['audio_tokens', 'image_tokens', 'reasoning_tokens']))
const promptDetails = orNull(
  counts(['audio_tokens', 'cache_write_tokens', 'cached_tokens', 'file_tokens', 'video_tokens']),
)
const serverToolUse = orNull(counts(['tool_calls_executed', 'tool_calls_requested', 'web_search_requests']))

/** 2.2 */
const batchUsage = object({
  required: { prompt_tokens: whole, completion_tokens: whole, total_tokens: whole },
  optional: {
    completion_tokens_details: completionDetails,
    prompt_tokens_details: promptDetails,
    server_tool_use: serverToolUse,
    cost: orNull(number),
    cost_details: plain,
    is_byok: flag,
    service_tier: orNull(text),
    cache_creation: plain,
    iterations: orNull(listOf(anything)),
  },
})

/** 2.3, without the body */
const resultItem = object({
  required: {
    id: filled,
    custom_id: filled,
    response: orNull(object({ required: { status_code: whole, request_id: orNull(text), body: plain } })),
    error: orNull(
      object({
        required: { type: filled, message: filled, param: orNull(text) },
        optional: { error_type: filled },
      }),
    ),
  },
})

const statuses = [
  'validating',
  'in_progress',
  'finalizing',
  'completed',
  'failed',
  'expired',
  'cancelling',
  'cancelled',
]
const endpoints = ['/v1/chat/completions', '/v1/responses', '/v1/messages', '/v1/embeddings']

/** 2.1 */
const batch = object({
  required: {
    id: filled,
    object: is('batch'),
    endpoint: is(...endpoints),
    model: filled,
    completion_window: is('24h'),
    status: is(...statuses),
    created_at: whole,
    finalized_at: orNull(whole),
    request_counts: object({ required: { total: whole, completed: whole, failed: whole } }),
    usage: orNull(batchUsage),
    results: orNull(listOf(resultItem)),
    error: orNull(object({ required: { message: text } })),
  },
})

const token = { token: text, bytes: orNull(listOf(whole)), logprob: number }
const logprobs = listOf(object({ required: { ...token, top_logprobs: listOf(object({ required: token })) } }))
const annotation = oneOf({
  url_citation: {
    required: {
      url_citation: object({
        required: { url: text, start_index: whole, end_index: whole, title: text },
        optional: { content: text },
      }),
    },
  },
  file: { required: { file: object({ required: { hash: text, content: listOf(anything) } }) } },
  web_search_citation: {
    required: { web_search_citation: object({ required: { url: text, title: orNull(text) } }) },
  },
})

const chatBody = object({
  required: {
    id: filled,
    model: filled,
    created: whole,
    object: is('chat.completion'),
    choices: listOf(
      object({
        required: {
          index: whole,
          finish_reason: orNull(text),
          native_finish_reason: orNull(text),
          logprobs: orNull(object({ required: { content: orNull(logprobs), refusal: orNull(logprobs) } })),
          message: object({
            required: { role: is('assistant'), content: orNull(text), refusal: orNull(text) },
            optional: {
              annotations: listOf(annotation),
              images: orNull(
                listOf(
                  object({
                    required: { type: is('image_url'), image_url: object({ required: { url: filled } }) },
                  }),
                ),
              ),
              reasoning: orNull(text),
              reasoning_details: orNull(listOf(plain)),
              tool_calls: listOf(
                object({
                  required: {
                    index: whole,
                    id: text,
                    type: is('function'),
                    function: object({ required: { name: text, arguments: text } }),
                  },
                }),
              ),
            },
          }),
        },
      }),
    ),
    // Present even when the upstream has none, because the contract's client requires it.
    system_fingerprint: orNull(text),
    usage: object({
      required: { prompt_tokens: whole, completion_tokens: whole, total_tokens: whole },
      optional: {
        completion_tokens_details: completionDetails,
        prompt_tokens_details: promptDetails,
        server_tool_use: serverToolUse,
      },
    }),
  },
  optional: { provider: orNull(text), service_tier: orNull(text), headrace_metadata: plain },
})

const outputPart = oneOf({
  output_text: { required: { text, annotations: listOf(plain), logprobs: listOf(plain) } },
  refusal: { required: { refusal: text } },
})

const responsesBody = object({
  required: {
    id: filled,
    object: is('response'),
    created_at: whole,
    completed_at: orNull(whole),
    status: is('completed', 'incomplete', 'failed'),
    model: filled,
    output: listOf(
      oneOf({
        message: {
          required: { id: filled, role: is('assistant'), status: text, content: listOf(outputPart) },
        },
        function_call: {
          required: { id: filled, call_id: filled, name: filled, arguments: text, status: text },
        },
        reasoning: { required: { id: filled, summary: listOf(plain) } },
      }),
    ),
    error: orNull(plain),
    incomplete_details: orNull(plain),
    instructions: orNull(text),
    metadata: orNull(plain),
    parallel_tool_calls: flag,
    tool_choice: anything,
    tools: listOf(plain),
    temperature: orNull(number),
    top_p: orNull(number),
    presence_penalty: orNull(number),
    frequency_penalty: orNull(number),
    usage: object({
      required: {
        input_tokens: whole,
        input_tokens_details: object({ required: { cached_tokens: whole } }),
        output_tokens: whole,
        output_tokens_details: object({ required: { reasoning_tokens: whole } }),
        total_tokens: whole,
      },
    }),
  },
})

const messagesBody = object({
  required: {
    id: filled,
    type: is('message'),
    role: is('assistant'),
    container: orNull(plain),
    content: listOf(
      oneOf({
        text: { required: { text }, optional: { citations: orNull(listOf(plain)) } },
        thinking: { required: { thinking: text, signature: text } },
        redacted_thinking: { required: { data: text } },
        tool_use: { required: { id: filled, name: filled, input: plain } },
      }),
    ),
    model: filled,
    stop_reason: orNull(text),
    stop_details: orNull(plain),
    stop_sequence: orNull(text),
    usage: object({
      required: { input_tokens: whole, output_tokens: whole },
      optional: { iterations: orNull(listOf(anything)), speed: orNull(text) },
    }),
  },
  optional: { input_transformations: orNull(listOf(anything)) },
})

const embeddingsBody = object({
  required: {
    object: is('list'),
    model: filled,
    data: listOf(
      object({
        required: {
          object: is('embedding'),
          embedding: (value, place) => (typeof value === 'string' ? [] : listOf(number)(value, place)),
        },
        optional: { index: whole },
      }),
    ),
    usage: object({
      required: { prompt_tokens: whole, total_tokens: whole },
      optional: { cost: orNull(number), cost_details: plain, is_byok: flag },
    }),
  },
  optional: { id: text },
})

const bodies: Readonly<Record<string, Check>> = {
  '/v1/chat/completions': chatBody,
  '/v1/responses': responsesBody,
  '/v1/messages': messagesBody,
  '/v1/embeddings': embeddingsBody,
}

/** How an ended batch, its results and their bodies deviate from the tables. */
export function shapeProblems(ended: Readonly<Record<string, unknown>>): string[] {
  const body = bodies[String(ended['endpoint'])]
  if (!body) return [`endpoint is ${show(ended['endpoint'])}`]
  const problems = batch(ended, 'batch')
  const results = Array.isArray(ended['results']) ? (ended['results'] as Record<string, unknown>[]) : []
  for (const [index, { response, error }] of results.entries()) {
    const place = `results[${index}]`
    if ((response === null) === (error === null))
      problems.push(`${place} has not exactly one of response and error`)
    if (response !== null)
      problems.push(...body((response as { body?: unknown }).body, `${place}.response.body`))
  }
  return problems
}
