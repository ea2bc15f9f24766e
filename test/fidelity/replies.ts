import type { Caller, ChatReply, Json, MessagesReply } from './table.ts'

// What providers send, and what clients put together of what they get: written by hand after the formats' documents.

const chatUsage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
const messagesUsage = { input_tokens: 10, output_tokens: 5 }

/** A whole chat completion. */
export function chatWhole({ message, finish, usage = chatUsage, logprobs }: ChatReply): Json {
  const choice = {
    index: 0,
    message: { role: 'assistant', content: null, refusal: null, ...message },
    logprobs: logprobs ?? null,
    finish_reason: finish,
  }
  return { id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'up', choices: [choice], usage }
}

/** The same as a stream: every member of the message in a chunk of its own, arguments of calls in two pieces. */
export function chatStream({ message, finish, usage = chatUsage, logprobs }: ChatReply): string {
  const deltas: Json[] = [{ role: 'assistant', content: '', refusal: null }]
  for (const [name, value] of Object.entries(message)) {
    if (name === 'tool_calls') deltas.push(...callDeltas(value as Json[]))
    else if (value !== null) deltas.push({ [name]: value })
  }
  const chunk = (choice: Json, more: Json = {}) =>
    frame({
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'up',
      choices: [choice],
      ...more,
    })
  const frames = deltas.map((delta) =>
    chunk({
      index: 0,
      delta,
      finish_reason: null,
      logprobs: 'content' in delta && delta['content'] !== '' ? (logprobs ?? null) : null,
    }),
  )
  const end = chunk({ index: 0, delta: {}, finish_reason: finish, logprobs: null })
  const last = frame({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'up',
    choices: [],
    usage,
  })
  return `${frames.join('')}${end}${last}data: [DONE]\n\n`
}

function callDeltas(calls: readonly Json[]): Json[] {
  return calls.flatMap((call, index) => {
    const called = call['function'] as { name: string; arguments: string }
    const half = Math.ceil(called.arguments.length / 2)
    const piece = (text: string) => ({ tool_calls: [{ index, function: { arguments: text } }] })
    return [
      {
        tool_calls: [
          { index, id: call['id'], type: 'function', function: { name: called.name, arguments: '' } },
        ],
      },
      piece(called.arguments.slice(0, half)),
      piece(called.arguments.slice(half)),
    ]
  })
}

/** A whole message. */
export function messagesWhole({ content, stop, usage = messagesUsage }: MessagesReply): Json {
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'up',
    content,
    stop_sequence: null,
    ...stop,
    usage,
  }
}

/** The same as a stream. */
export function messagesStream({ content, stop, usage = messagesUsage }: MessagesReply): string {
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'up',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
  }
  return [
    { type: 'message_start', message },
    ...content.flatMap(blockEvents),
    { type: 'message_delta', delta: { stop_sequence: null, ...stop }, usage },
    { type: 'message_stop' },
  ]
    .map((event) => `event: ${event.type}\n${frame(event)}`)
    .join('')
}

function blockEvents(block: Json, index: number): { type: string; [name: string]: unknown }[] {
  const { text, thinking, signature, citations, input, ...rest } = block
  const empty = {
    ...rest,
    ...(text === undefined ? {} : { text: '' }),
    ...(thinking === undefined ? {} : { thinking: '', signature: '' }),
    ...(input === undefined ? {} : { input: {} }),
  }
  const deltas: Json[] = [
    ...(text === undefined ? [] : [{ type: 'text_delta', text }]),
    ...(thinking === undefined ? [] : [{ type: 'thinking_delta', thinking }]),
    ...(signature === undefined ? [] : [{ type: 'signature_delta', signature }]),
    ...(Array.isArray(citations)
      ? citations.map((citation: unknown) => ({ type: 'citations_delta', citation }))
      : []),
    ...(input === undefined ? [] : [{ type: 'input_json_delta', partial_json: JSON.stringify(input) }]),
  ]
  return [
    { type: 'content_block_start', index, content_block: empty },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ]
}

function frame(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`
}

/** What a client makes of a stream: the body that it would have got at once. */
export function joined(caller: Caller, stream: string): Json {
  const events = [...stream.matchAll(/^data: (\{.*)$/gm)].map(([, json = '']) => JSON.parse(json) as Json)
  if (caller === 'responses') return responseOf(events)
  return caller === 'chat' ? completionOf(events) : messageOf(events)
}

function responseOf(events: readonly Json[]): Json {
  const response = events.findLast(({ response: told }) => told !== undefined)?.['response']
  return (response ?? {}) as Json
}

function completionOf(events: readonly Json[]): Json {
  const message: Record<string, unknown> = {}
  const calls: { function: { arguments: string } }[] = []
  const choice: Json = { message }
  for (const event of events) {
    const [given] = event['choices'] as Json[]
    for (const [name, value] of Object.entries((given?.['delta'] ?? {}) as Json)) {
      if (name === 'tool_calls') (value as CallPiece[]).forEach((call) => addCall(calls, call))
      else if (Array.isArray(value)) message[name] = [...((message[name] as unknown[]) ?? []), ...value]
      else if (typeof value === 'string') message[name] = `${String(message[name] ?? '')}${value}`
    }
    for (const name of ['finish_reason', 'native_finish_reason', 'logprobs'])
      if (given?.[name] !== undefined && given[name] !== null) choice[name] = given[name]
  }
  if (calls.length > 0) message['tool_calls'] = calls
  return { ...events.at(-1), choices: [choice] }
}

interface CallPiece {
  index: number
  function: { arguments?: string }
}

function addCall(calls: { function: { arguments: string } }[], piece: CallPiece): void {
  const known = calls[piece.index]
  if (known) known.function.arguments += piece.function.arguments ?? ''
  else calls[piece.index] = { ...piece, function: { arguments: '', ...piece.function } }
}

function messageOf(events: readonly Json[]): Json {
  const content: Json[] = []
  let whole: Json = {}
  for (const event of events) {
    if (event['type'] === 'message_start') whole = { ...(event['message'] as Json) }
    if (event['type'] === 'content_block_start') content.push({ ...(event['content_block'] as Json) })
    if (event['type'] === 'content_block_delta') addDelta(content.at(-1) ?? {}, event['delta'] as Json)
    if (event['type'] === 'message_delta')
      whole = { ...whole, ...(event['delta'] as Json), usage: event['usage'] }
    if (event['type'] === 'message_stop') whole = { ...whole, ...event, type: 'message' }
  }
  const closed = content.map(({ json, ...block }) =>
    typeof json === 'string' ? { ...block, input: JSON.parse(json) as unknown } : block,
  )
  return { ...whole, content: closed }
}

function addDelta(block: Json, delta: Json): void {
  const { text, thinking, signature, citation, partial_json: json } = delta
  if (typeof text === 'string') block['text'] = `${String(block['text'] ?? '')}${text}`
  if (typeof thinking === 'string') block['thinking'] = `${String(block['thinking'] ?? '')}${thinking}`
  if (typeof signature === 'string') block['signature'] = signature
  if (typeof json === 'string') block['json'] = `${String(block['json'] ?? '')}${json}`
  if (citation !== undefined)
    block['citations'] = [...((block['citations'] as unknown[] | null) ?? []), citation]
}
