import fc from 'fast-check'
import { describe, expect, test } from 'bun:test'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { GatewayError } from '../../../core/errors.ts'
import { callers, selectCodec, upstreams } from '../formats.ts'
import { translate } from '../translate.ts'
import { chatQuirks, type ChatQuirks, openAiMembers } from './quirks.ts'
import type { EncodedRequest } from '../halves.ts'
import { decodeChatRequest } from './read-request.ts'
import { framesOf, runStream, streamOf, testCharge, testContext, testEndpoint, textOf } from '../testing.ts'

// The passage of bytes and the two halves show the same. Where the passage shows more, `differences` has the name and
// the reason.

type Wire = Record<string, unknown>

const passage = selectCodec('chat', 'chat')
const halves = translate(callers.chat, upstreams.chat)

const hosts = {
  OpenAI: chatQuirks({
    maxTokensField: 'max_completion_tokens',
    accepts: openAiMembers,
    developerRole: true,
    answerMembers: true,
  }),
  'a host that knows the core alone': chatQuirks(),
  'a host that refuses what it does not heed': chatQuirks({
    refuses: ['tool_choice', 'logprobs', 'top_logprobs'],
  }),
  'a server that takes any member': chatQuirks({
    unknownMembers: 'forward',
    accepts: [...openAiMembers, 'top_k', 'min_p', 'repetition_penalty', 'cache_control'],
    developerRole: true,
    reasoning: 'object',
    reasoningHistory: 'keep',
  }),
}

/** Differences in bodies with the same meaning. Each function makes both bodies equal. */
const differences: Readonly<Record<string, (body: Wire) => void>> = {
  'a text alone is written as a string': (body) =>
    eachMessage(body, (message) => {
      const { content } = message
      const [only, ...others] = Array.isArray(content) ? (content as Wire[]) : []
      const isBare = only !== undefined && Object.keys(only).toSorted().join() === 'text,type'
      if (isBare && others.length === 0) message['content'] = only['text']
    }),
  'instructions in several texts are one': (body) =>
    eachMessage(body, (message) => {
      const { role, content } = message
      if ((role !== 'system' && role !== 'developer') || !Array.isArray(content)) return
      const parts = content as Wire[]
      if (parts.every((part) => Object.keys(part).toSorted().join() === 'text,type'))
        message['content'] = parts.map(({ text }) => text).join('\n\n')
    }),
  'what an assistant said in several texts is one': (body) =>
    eachMessage(body, (message) => {
      const { role, content } = message
      if (role !== 'assistant' || !Array.isArray(content)) return
      const parts = content as Wire[]
      if (parts.every((part) => Object.keys(part).toSorted().join() === 'text,type'))
        message['content'] = parts.map(({ text }) => text).join('')
    }),
  'nothing said is null, and what says nothing is left out': (body) =>
    eachMessage(body, (message) => {
      for (const name of ['refusal', 'tool_calls', 'reasoning']) {
        const value = message[name]
        if (value === null || value === '' || (Array.isArray(value) && value.length === 0))
          delete message[name]
      }
      message['content'] ??= null
    }),
  'no arguments are an empty object': (body) =>
    eachMessage(body, ({ tool_calls: calls }) => {
      for (const call of (calls ?? []) as { function?: { arguments: string } }[])
        if (call.function?.arguments === '') call.function.arguments = '{}'
    }),
  'a shown thought is told in both members that hosts have for it': (body) =>
    eachMessage(body, (message) => delete message['reasoning_details']),
  'the default is not sent': (body) => {
    if (body['n'] === 1) delete body['n']
    if (body['stream'] === false) delete body['stream']
    if (body['logprobs'] === false) delete body['logprobs']
    if (body['top_logprobs'] === 0) delete body['top_logprobs']
    if ((body['response_format'] as Wire | undefined)?.['type'] === 'text') delete body['response_format']
  },
  'one stop text is a list of one': (body) => {
    if (typeof body['stop'] === 'string') body['stop'] = [body['stop']]
    if (Array.isArray(body['stop']) && body['stop'].length === 0) delete body['stop']
  },
  'tools are not chosen from where there are none': (body) => {
    if (Array.isArray(body['tools']) && body['tools'].length > 0) return
    for (const name of ['tools', 'tool_choice', 'parallel_tool_calls']) delete body[name]
  },
}

function eachMessage(body: Wire, change: (message: Wire) => void): void {
  for (const message of body['messages'] as Wire[]) change(message)
}

function alike(body: Wire): Wire {
  for (const change of Object.values(differences)) change(body)
  return body
}

const word = fc.constantFrom('Hi.', 'Größe 東京 🦆', '"quoted"\n', '{"a":1}', 'x'.repeat(300))
const mark = fc.option(fc.constant({ cache_control: { type: 'ephemeral', ttl: '1h' } }), { nil: {} })
const text = fc.tuple(word, mark).map(([said, more]) => ({ type: 'text', text: said, ...more }))
const media = fc.constantFrom<Wire>(
  { type: 'image_url', image_url: { url: 'https://example.com/a.png', detail: 'low' } },
  { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
  { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
  { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0xLjQ=' } },
  { type: 'file', file: { filename: 'a.txt', file_data: 'data:text/plain;base64,SGkgdGhlcmUu' } },
  { type: 'file', file: { file_id: 'file-1' } },
)
const name = fc.option(fc.constant({ name: 'ada' }), { nil: {} })
const unknown = fc.option(fc.constant({ provider_specific_fields: { a: 1 } }), { nil: {} })
const asked = fc
  .tuple(
    fc.constantFrom('system', 'developer', 'user'),
    fc.oneof(word, fc.array(text, { minLength: 1, maxLength: 3 })),
    name,
  )
  .map(([role, content, more]) => ({ role, content, ...more }))
const shown = fc
  .tuple(fc.array(fc.oneof(text, media), { minLength: 1, maxLength: 4 }), unknown)
  .map(([content, more]) => ({ role: 'user', content, ...more }))
const call = fc
  .tuple(fc.constantFrom('a', 'b'), fc.constantFrom('', '{}', '{"city":"Oslo"}', '{"broken"'), fc.nat(99))
  .map(([called, args, id]) => ({
    id: `c${id}`,
    type: 'function',
    function: { name: called, arguments: args },
  }))
const answered = fc
  .record(
    {
      content: fc.oneof(fc.constant(null), word, fc.array(text, { minLength: 1, maxLength: 2 })),
      refusal: fc.option(word),
      reasoning: word,
      tool_calls: fc.array(call, { maxLength: 3 }),
    },
    { requiredKeys: ['content'] },
  )
  .map((members) => ({ role: 'assistant', ...members }))
const result = fc
  .tuple(fc.nat(99), word)
  .map(([id, content]) => ({ role: 'tool', tool_call_id: `c${id}`, content }))
const request = fc
  .record(
    {
      model: fc.constant('a/b'),
      messages: fc.array(fc.oneof(asked, shown, answered, result), { minLength: 1, maxLength: 6 }),
      max_tokens: fc.integer({ min: 1, max: 99 }),
      n: fc.constantFrom(1, 2),
      stop: fc.oneof(fc.constant('END'), fc.constant(['a', 'b'])),
      temperature: fc.constantFrom(0, 0.5, 2),
      top_p: fc.constant(0.5),
      top_k: fc.constant(5),
      min_p: fc.constant(0.1),
      seed: fc.integer({ min: 0, max: 9 }),
      presence_penalty: fc.constant(1),
      frequency_penalty: fc.constant(-1),
      repetition_penalty: fc.constant(1.1),
      logit_bias: fc.constant({ '50256': -100 }),
      logprobs: fc.boolean(),
      top_logprobs: fc.constantFrom(0, 2),
      user: fc.constant('u1'),
      metadata: fc.constant({ job: 'a' }),
      store: fc.boolean(),
      verbosity: fc.constantFrom('low', 'xhigh'),
      service_tier: fc.constantFrom('auto', 'flex'),
      prompt_cache_key: fc.constant('k'),
      prediction: fc.constant({ type: 'content', content: 'x' }),
      modalities: fc.constant(['text']),
      web_search_options: fc.constant({ search_context_size: 'low' }),
      my_member: fc.constant({ deep: [1] }),
      stream: fc.boolean(),
      reasoning: fc.constantFrom<Wire>(
        { effort: 'high' },
        { effort: 'none' },
        { effort: 'ultra', summary: 'auto' },
        { enabled: false, effort: 'low' },
        { max_tokens: 512, exclude: true },
      ),
      reasoning_effort: fc.constantFrom('high', 'low', 'ultra'),
      parallel_tool_calls: fc.boolean(),
      tool_choice: fc.constantFrom<unknown>('auto', 'none', 'required', {
        type: 'function',
        function: { name: 'a' },
      }),
      response_format: fc.constantFrom<unknown>(
        { type: 'text' },
        { type: 'json_object' },
        { type: 'json_schema', json_schema: { name: 's', schema: { type: 'object' }, strict: true } },
      ),
      tools: fc.constantFrom<unknown[]>(
        [
          {
            type: 'function',
            function: { name: 'a', description: 'It tells.', parameters: { type: 'object' }, strict: true },
          },
        ],
        [
          { type: 'function', function: { name: 'a' } },
          { type: 'custom', custom: { name: 'b', format: { type: 'text' } } },
        ],
        [{ type: 'web_search', here: 1 }],
      ),
    },
    { requiredKeys: ['model', 'messages'] },
  )
  // `top_logprobs` asks for nothing without `logprobs`, but a host without them refuses the member anyway.
  .map(({ top_logprobs: count, ...body }): Wire =>
    body.logprobs === true && count !== undefined ? { ...body, top_logprobs: count } : body,
  )

/** The request for a host and its losses, or the member for which the call is refused. */
function outcomeOf(encode: () => EncodedRequest) {
  try {
    const encoded = encode()
    return {
      body: alike(JSON.parse(textOf(encoded.body)) as Wire),
      dropped: [...encoded.dropped].toSorted(),
    }
  } catch (error) {
    if (!(error instanceof GatewayError) || error.type !== 'invalid_request') throw error
    return { refused: error.param }
  }
}

describe('a request of chat completions', () => {
  for (const [host, quirks] of Object.entries(hosts)) {
    test(`sends to ${host} the same request as both halves, with the same losses`, () => {
      fc.assert(
        fc.property(request, (body) => {
          const read = () => decodeChatRequest(Buffer.from(JSON.stringify(body)), { sessionIdHeader: null })
          const [passed, written] = [passage, halves].map((codec) =>
            outcomeOf(() => codec.encodeRequest(read(), testEndpoint('up'), quirks)),
          )
          expect(written).toEqual(passed as never)
        }),
        { numRuns: 150 },
      )
    })
  }
})

/** The contents of one choice as a client reads it, whole or in pieces. */
interface Told {
  content: string
  reasoning: string
  refusal: string
  calls: { id: string; name: string; text: string; own: unknown }[]
  older: { name: string; text: string }
  spoken: { id: unknown; words: string }
  annotations: unknown[]
  finish: unknown
  native: unknown
  logprobs: number
}

function toldBy(bodies: readonly Wire[], member: 'message' | 'delta'): Told[] {
  const told: Told[] = []
  for (const choice of bodies.flatMap((body) => (body['choices'] ?? []) as Wire[])) {
    const index = Number(choice['index'])
    told[index] ??= {
      content: '',
      reasoning: '',
      refusal: '',
      calls: [],
      older: { name: '', text: '' },
      spoken: { id: null, words: '' },
      annotations: [],
      finish: null,
      native: null,
      logprobs: 0,
    }
    add(told[index], choice, choice[member] as Wire)
  }
  return told
}

function add(told: Told, choice: Wire, message: Wire): void {
  const { function_call: older, audio } = message as { function_call?: Wire; audio?: Wire }
  told.older.name += String(older?.['name'] ?? '')
  told.older.text += String(older?.['arguments'] ?? '')
  told.spoken.id = audio?.['id'] ?? told.spoken.id
  told.spoken.words += String(audio?.['transcript'] ?? '')
  for (const part of ['content', 'reasoning', 'refusal'] as const) {
    const said = message[part]
    if (typeof said === 'string') told[part] += said
  }
  told.annotations.push(...((message['annotations'] ?? []) as unknown[]))
  told.finish = choice['finish_reason'] ?? told.finish
  told.native = choice['native_finish_reason'] ?? told.native
  const logprobs = choice['logprobs'] as { content?: unknown[] | null } | null | undefined
  told.logprobs += logprobs?.content?.length ?? 0
  for (const piece of (message['tool_calls'] ?? []) as (Wire & { index: number; function?: Wire })[]) {
    const known = (told.calls[piece.index] ??= { id: '', name: '', text: '', own: null })
    known.own = piece['extra_content'] ?? known.own
    known.id += String(piece['id'] ?? '')
    known.name += String(piece.function?.['name'] ?? '')
    known.text += String(piece.function?.['arguments'] ?? '')
  }
}

const annotation = {
  type: 'url_citation',
  url_citation: { url: 'https://example.com', title: 'A', start_index: 0, end_index: 1 },
}
const token = { token: 'Hi', logprob: -0.1, bytes: [72, 105], top_logprobs: [] }
const calls = fc.array(
  fc.tuple(fc.constantFrom('a', 'b'), fc.constantFrom('{}', '{"city":"Oslo"}', '{"a":{"b":"}"}}')),
  { maxLength: 3 },
)
const usage = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 }
const answer = fc.record({
  content: fc.option(word),
  reasoning: fc.option(word),
  calls,
  /** Members that only chat completions has: for every call, for a call in the older member, and for spoken text. */
  own: fc.boolean(),
  annotations: fc.boolean(),
  logprobs: fc.boolean(),
  finish: fc.constantFrom('stop', 'length', 'tool_calls', 'content_filter', 'tired'),
})
type Given = typeof answer extends fc.Arbitrary<infer Value> ? Value : never

function messageOf({ content, reasoning, calls: given, own, annotations }: Given): Wire {
  return {
    role: 'assistant',
    content,
    ...(own && given.length === 0 ? { function_call: { name: 'a', arguments: '{"b":1}' } } : {}),
    ...(own && content === null ? { audio: { id: 'audio_1', transcript: 'Hi there.' } } : {}),
    ...(reasoning === null ? {} : { reasoning_content: reasoning }),
    ...(annotations && content !== null ? { annotations: [annotation] } : {}),
    ...(given.length === 0
      ? {}
      : {
          tool_calls: given.map(([called, args], index) => ({
            id: `c${index}`,
            type: 'function',
            function: { name: called, arguments: args },
            ...(own ? { extra_content: { google: { thought_signature: 's' } } } : {}),
          })),
        }),
  }
}

const logprobsOf = ({ logprobs, content }: Given) =>
  logprobs && content !== null ? { content: [token], refusal: null } : null

function wholeOf(choices: readonly Given[]): Wire {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'up',
    choices: choices.map((given, index) => ({
      index,
      message: messageOf(given),
      logprobs: logprobsOf(given),
      finish_reason: given.finish,
    })),
    usage,
  }
}

/** The same answer in pieces: one choice after another, texts word by word, arguments character by character. */
function piecesOf(choices: readonly Given[]): Wire[] {
  const base = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'up' }
  const frames = choices.flatMap((given, index) => {
    const message = messageOf(given)
    const { tool_calls: toolCalls = [], content, reasoning_content: reasoning, ...rest } = message
    const { function_call: older, audio } = rest as { function_call?: Wire; audio?: Wire }
    const deltas: Wire[] = [
      { role: 'assistant', content: '' },
      ...split(reasoning).map((reasoning_content) => ({ reasoning_content })),
      ...split(content).map((each) => ({ content: each })),
      ...(audio === undefined ? [] : [{ audio: { id: audio['id'], transcript: 'Hi ' } }]),
      ...(audio === undefined ? [] : [{ audio: { transcript: 'there.' } }]),
      ...('annotations' in rest ? [{ annotations: rest['annotations'] }] : []),
      ...(older === undefined ? [] : [{ function_call: { name: older['name'], arguments: '' } }]),
      ...(older === undefined ? [] : [{ function_call: { arguments: older['arguments'] } }]),
      ...(toolCalls as { id: string; function: { name: string; arguments: string } }[]).flatMap(
        ({ function: called, ...named }, at) => [
          { tool_calls: [{ ...named, index: at, function: { name: called.name, arguments: '' } }] },
          ...[...called.arguments].map((piece) => ({
            tool_calls: [{ index: at, function: { arguments: piece } }],
          })),
        ],
      ),
    ]
    const logprobs = logprobsOf(given)
    const told = logprobs === null ? [] : [{ index, delta: {}, logprobs, finish_reason: null }]
    const ends = [{ index, delta: {}, finish_reason: given.finish }]
    return [...deltas.map((delta) => ({ index, delta, finish_reason: null })), ...told, ...ends]
  })
  return [...frames.map((choice) => ({ ...base, choices: [choice] })), { ...base, choices: [], usage }]
}

function split(said: unknown): string[] {
  return typeof said === 'string' ? said.split(/(?<= )/) : []
}

const bytesOf = (value: unknown) => Buffer.from(JSON.stringify(value))
const anyCall = decodeChatRequest(bytesOf({ model: 'a/b', messages: [{ role: 'user', content: 'x' }] }), {
  sessionIdHeader: null,
})

function shownWhole(bytes: Uint8Array, quirks: ChatQuirks): unknown[] {
  return [passage, halves].map((codec) => {
    const decoded = codec.decodeAnswer(bytes, testContext, quirks, anyCall)
    const body = JSON.parse(textOf(decoded.encode(testCharge))) as Wire
    const { finishReason, nativeFinishReason, usage: read } = decoded.reading
    return { told: toldBy([body], 'message'), reading: { finishReason, nativeFinishReason, read } }
  })
}

function shownStream(bytes: Uint8Array, quirks: ChatQuirks, cuts: readonly number[]): unknown[] {
  return [passage, halves].map((codec) => {
    const rewriter = codec.createStream(testContext, quirks, anyCall)
    const { shown: text_, ending } = runStream(rewriter, bytes, cuts)
    const { finishReason, nativeFinishReason, usage: read } = rewriter.reading()
    const isFailed = rewriter.failure !== null
    return {
      told: toldBy(framesOf(text_ + ending), 'delta'),
      reading: { finishReason, nativeFinishReason, read },
      isFailed,
    }
  })
}

describe('an answer of chat completions', () => {
  test('shows as a whole body the same as both halves', () => {
    fc.assert(
      fc.property(fc.array(answer, { minLength: 1, maxLength: 3 }), (choices) => {
        const [passed, written] = shownWhole(bytesOf(wholeOf(choices)), hosts.OpenAI)
        expect(written).toEqual(passed)
      }),
      { numRuns: 150 },
    )
  })

  test('shows as a stream the same as both halves, cut anywhere', () => {
    fc.assert(
      fc.property(
        fc.array(answer, { minLength: 1, maxLength: 3 }),
        fc.array(fc.nat(2_000), { maxLength: 6 }),
        (choices, cuts) => {
          const bytes = streamOf(piecesOf(choices))
          const [passed, written] = shownStream(
            bytes,
            hosts.OpenAI,
            cuts.filter((cut) => cut < bytes.length),
          )
          expect(written).toEqual(passed)
        },
      ),
      { numRuns: 150 },
    )
  })

  test('that comes whole although a stream was asked for is sent whole in both ways', () => {
    const whole = {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model: 'up',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'THE WHOLE ANSWER',
            tool_calls: [
              { id: 'get', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
              { id: 'get', type: 'function', function: { name: 'f', arguments: '{"b":2}' } },
            ],
          },
          logprobs: null,
          finish_reason: 'tool_calls',
        },
      ],
      usage,
    }
    const bodies = {
      bare: bytesOf(whole),
      'on many lines': Buffer.from(`${JSON.stringify(whole, null, 2)}\n`),
      'in an event': streamOf([whole]),
      'in an event, without a terminator': streamOf([whole], { done: false }),
    }
    for (const [how, bytes] of Object.entries(bodies)) {
      for (const codec of [passage, halves]) {
        const rewriter = codec.createStream(testContext, hosts.OpenAI, anyCall)
        const { shown: text_, ending } = runStream(rewriter, bytes)
        expect({ how, failure: rewriter.failure }).toEqual({ how, failure: null })
        const frames = framesOf(text_ + ending)
        expect(text_ + ending).not.toContain('"message"')
        expect(toldBy(frames, 'delta')).toMatchObject([
          {
            content: 'THE WHOLE ANSWER',
            calls: [
              { id: 'get', name: 'f', text: '{"a":1}' },
              { id: 'call_gen-1-abc_0_1', name: 'f', text: '{"b":2}' },
            ],
            finish: 'tool_calls',
          },
        ])
        expect(rewriter.reading()).toMatchObject({
          source: 'provider',
          usage: { inputTokens: 9, outputTokens: 4 },
        })
      }
    }
  })

  test('has its citations at their places in the whole text in both ways', () => {
    const cite = (start: number) => ({
      annotations: [
        {
          ...annotation,
          url_citation: { ...annotation.url_citation, start_index: start, end_index: start + 1 },
        },
      ],
    })
    const called = { index: 0, id: 'c0', type: 'function', function: { name: 'a', arguments: '{}' } }
    const deltas = [{ content: 'Rain. ' }, { tool_calls: [called] }, { content: 'Sun.' }, cite(6), cite(0)]
    const choices = deltas.map((delta) => ({ index: 0, delta, finish_reason: null }))
    const end = { index: 0, delta: {}, finish_reason: 'tool_calls' }
    const bytes = streamOf([...choices, end].map((choice) => ({ id: 'x', choices: [choice], usage })))
    const [passed, written] = shownStream(bytes, hosts.OpenAI, [])
    expect(written).toEqual(passed)
    expect(passed).toMatchObject({ told: [{ annotations: [...cite(6).annotations, annotation] }] })
  })

  test('that comes whole and broken is a failure in both ways', () => {
    const bytes = Buffer.from('{"choices":[{"index":0,"message":{"content":"x"')
    for (const codec of [passage, halves]) {
      const { rewriter } = runStream(codec.createStream(testContext, hosts.OpenAI, anyCall), bytes)
      expect(rewriter.failure).toMatchObject({ type: 'provider_failed' })
    }
  })
})

const root = process.env['HEADRACE_RECORDINGS'] ?? join(import.meta.dir, '../../../../shared/recordings')
const isThere = existsSync(join(root, 'ai-sdk'))
if (!isThere)
  console.log('recordings are not here: set HEADRACE_RECORDINGS to check adapters against real replies')
const folders = [
  'openai/src/chat',
  'groq/src',
  'mistral/src',
  'deepseek/src/chat',
  'openai-compatible/src/chat',
  'xai/src',
  'perplexity/src',
]
const recorded = (pattern: string) =>
  folders.flatMap((folder) => globSync(join(root, 'ai-sdk', folder, '__fixtures__', pattern)))

describe.if(isThere)('recordings', () => {
  for (const file of recorded('*.chunks.txt')) {
    test(`${basename(file)} shows what it shows through both halves`, () => {
      const payloads = readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => line.trim() !== '')
      const [passed, written] = shownStream(streamOf(payloads), hosts['a server that takes any member'], [])
      expect(written).toEqual(passed)
    })
  }
  for (const file of recorded('*.json')) {
    const bytes = readFileSync(file)
    if (!Array.isArray((JSON.parse(bytes.toString('utf8')) as Wire)['choices'])) continue
    test(`${basename(file)} shows what it shows through both halves`, () => {
      const [passed, written] = shownWhole(bytes, hosts['a server that takes any member'])
      expect(written).toEqual(passed)
    })
  }
})
