import { describe, expect, spyOn, test } from 'bun:test'
import type { TextCall } from '../../../canonical/call.ts'
import { decodeChatRequest } from '../chat/read-request.ts'
import { runStream, testCharge, testContext, testEndpoint, textOf } from '../testing.ts'
import { selectCodec } from '../formats.ts'
import { leaveOutTexts } from '../../../json/set-aside-texts.ts'
import { decodeMessagesRequest } from './read-request.ts'
import { messagesQuirks } from './quirks.ts'

// Between a caller and a provider of the same format the bytes pass unchanged.

const codec = selectCodec('messages', 'messages')
const quirks = messagesQuirks()
const bytesOf = (text: string) => new TextEncoder().encode(text)

/** Values that JavaScript would write differently: digits, a sign, an escape, white space. */
const input =
  '{ "id": 9007199254740993, "huge": 1e400, "fine": 0.1000000000000000055, "zero": -0.0, "text": "a\\/b \\u00e4" }'

function read(body: string, isLarge = false): TextCall {
  const bytes = bytesOf(body)
  if (!isLarge) return decodeMessagesRequest(bytes, { sessionIdHeader: null })
  const work = leaveOutTexts(bytes)
  for (;;) {
    const { done, value } = work.next()
    if (done) return decodeMessagesRequest(bytes, { sessionIdHeader: null, lean: value })
  }
}

const sent = (body: string, isLarge = false) => {
  const { body: pieces, dropped } = codec.encodeRequest(read(body, isLarge), testEndpoint('claude'), quirks)
  return { body: textOf(pieces), dropped }
}

describe('a request', () => {
  const call = `{"role":"assistant","content":[ {"type":"tool_use","id":"t1","name":"a","input":${input}} ]}`
  const asked = '{"role" : "user","content":"Hi."}'

  test('keeps its bytes except for the model and the gateway’s own members', () => {
    const body = `{ "model":"a/b",\n"provider":{"order":["x"]}, "max_tokens": 9, "messages": [${asked}, ${call}] , "user":"u", "x": 1e400}`
    expect(sent(body).body).toBe(
      `{"model":"claude","max_tokens": 9, "messages": [${asked}, ${call}],"x": 1e400}`,
    )
  })

  test('is not served at a speed that has another price, and the loss is listed', () => {
    const ask = (speed: string) =>
      sent(`{"model":"a/b","max_tokens":9,"messages":[${asked}],"speed":${speed}}`)
    const plain = `{"model":"claude","max_tokens":9,"messages":[${asked}]`
    expect(ask('"fast"')).toEqual({ body: `${plain}}`, dropped: ['speed'] })
    expect(ask('"standard"')).toEqual({ body: `${plain},"speed":"standard"}`, dropped: [] })
    expect(ask('null')).toEqual({ body: `${plain}}`, dropped: [] })
  })

  const sealed = `hr1.chat.s..${'QUJD'.repeat(100)}`
  const thought = `{"type":"thinking","thinking":"hm","signature":"${sealed}"}`
  const own = '{"type":"thinking","thinking":"ah","signature":"c2ln"}'

  for (const isLarge of [false, true]) {
    test(`${isLarge ? 'that is large ' : ''}loses another provider's thoughts and nothing else`, () => {
      const words = `{"type":"text","text":"${'word '.repeat(100)}\\/"}`
      const messages = [
        asked,
        `{"content":[${thought}, ${own} , ${words},{"type":"tool_use","id":"t1","name":"a","input":${input}}],"role" :"assistant"}`,
        `{"role":"assistant","content":[${thought}]}`,
        asked,
      ]
      const { body, dropped } = sent(
        `{"model":"a/b","max_tokens":9,"messages":[${messages.join(' , ')}]}`,
        isLarge,
      )
      expect(body).toBe(
        `{"model":"claude","max_tokens":9,"messages":[${asked},` +
          `{"content":[${own},${words},{"type":"tool_use","id":"t1","name":"a","input":${input}}],"role" :"assistant"},` +
          `${asked}]}`,
      )
      expect(dropped).toHaveLength(1)
    })
  }
})

describe('a turn of another model', () => {
  const said = (...content: object[]) => ({ role: 'assistant', content })
  const call = { type: 'tool_use', id: 't1', name: 'f', input: {} }
  const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'ok' }] }
  const user = { role: 'user', content: 'hi' }
  const thinking = { type: 'enabled', budget_tokens: 2000 }
  const own = { type: 'thinking', thinking: 'ah', signature: 'c2ln' }
  const unsigned = { type: 'thinking', thinking: 'ah', signature: '' }

  const sentOf = (messages: object[], space = 0) => {
    const asked = { model: 'a/b', max_tokens: 4000, thinking, messages }
    const { body, dropped } = sent(JSON.stringify(asked, null, space))
    return { wire: JSON.parse(body), dropped }
  }

  for (const space of [0, 2])
    test(`loses thoughts that nobody signed, written with ${space} spaces`, () => {
      const { wire, dropped } = sentOf([user, said(unsigned, { type: 'text', text: 'a' }), user], space)
      expect(wire.messages[1].content).toEqual([{ type: 'text', text: 'a' }])
      expect(wire.thinking).toEqual(thinking)
      expect(dropped).toEqual(['messages[].content[].thinking'])
    })

  test('that calls a tool is continued without thinking, which the provider would refuse', () => {
    for (const thought of [[], [unsigned]]) {
      const { wire, dropped } = sentOf([user, said(...thought, call), result])
      expect(wire.messages[1].content).toEqual([call])
      expect(wire).not.toHaveProperty('thinking')
      expect(dropped).toContain('thinking')
    }
    expect(sentOf([user, said(own, call), result])).toMatchObject({ wire: { thinking }, dropped: [] })
    expect(sentOf([user, said(call), result, said(own, { ...call, id: 't2' })])).toMatchObject({
      wire: { thinking },
    })
    expect(sentOf([user, said({ type: 'text', text: 'tool_use' }), user])).toMatchObject({
      wire: { thinking },
    })
  })

  test('is continued without thinking for callers of other formats too', () => {
    const messages = [
      user,
      {
        role: 'assistant',
        tool_calls: [{ id: 't1', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 't1', content: 'ok' },
    ]
    const asked = bytesOf(
      JSON.stringify({ model: 'a/b', max_tokens: 4000, reasoning_effort: 'high', messages }),
    )
    const request = decodeChatRequest(asked, { sessionIdHeader: null })
    const encoded = selectCodec('chat', 'messages').encodeRequest(request, testEndpoint('claude'), quirks)
    expect(JSON.parse(textOf(encoded.body))).not.toHaveProperty('thinking')
    expect(encoded.dropped).toEqual(['reasoning'])
  })
})

describe('a whole answer', () => {
  const content = `[ {"type":"text","text":"Gr\\u00fc\\u00dfe \\/ 🦆", "citations": []},{"type":"tool_use","id":"t1","name":"a","input":${input}, "caller":{"type":"direct"}}]`
  const shown = (body: string) =>
    textOf(codec.decodeAnswer(bytesOf(body), testContext, quirks, undefined as never).encode(testCharge))

  test('keeps its bytes except for ids and cost, and has all members that the contract requires', () => {
    const told = shown(
      `{"id":"msg_1","type":"message", "role" : "assistant","model":"claude-x","content":${content},\n"stop_reason":"tool_use","usage":{"input_tokens":3,"output_tokens":4},"x": 1.50}`,
    )
    expect(told).toStartWith(
      `{"id":"gen-1-abc","type":"message", "role" : "assistant","model":"openai/gpt-4o-mini","content":${content},\n"stop_reason":"tool_use","usage":{`,
    )
    expect(told).toContain(`},"x": 1.50,`)
    expect(JSON.parse(told)).toMatchObject({
      provider: 'OpenAI',
      container: null,
      stop_sequence: null,
      stop_details: null,
      usage: { input_tokens: 3, output_tokens: 4, cost: 0.00000003 },
    })
  })

  test('with a member that occurs twice is shown with one of them', () => {
    const told = shown(
      '{"id":"msg_1","model":"m","content":[],"stop_reason":null,"id":"msg_2","stop_reason":"end_turn"}',
    )
    expect(told.match(/"id"/g)).toHaveLength(1)
    expect(JSON.parse(told)).toMatchObject({ id: 'gen-1-abc', stop_reason: 'end_turn' })
  })

  test('that is not UTF-8 is shown as UTF-8', () => {
    const bytes = Buffer.from(
      '{"id":"1","content":[{"type":"text","text":"\xff"}],"stop_reason":"end_turn"}',
      'latin1',
    )
    const pieces = codec.decodeAnswer(bytes, testContext, quirks, undefined as never).encode(testCharge)
    expect(JSON.parse(textOf(pieces))).toMatchObject({ content: [{ type: 'text', text: '\ufffd' }] })
  })
})

describe('a stream', () => {
  const frame = (data: string) => `event: ${/"type": ?"(\w+)"/.exec(data)?.[1]}\ndata: ${data}\n\n`
  const start = frame(
    '{"type": "message_start","message":{"id":"msg_1","type":"message","role":"assistant", "content": [] ,"model":"claude-x","n": 9007199254740993,"usage":{"input_tokens":3}}}',
  )
  const begin = (index: number, block: string) =>
    frame(`{"type":"content_block_start","index":${index},"content_block":${block}}`)
  const delta = (index: number, inside: string) =>
    frame(`{"type":"content_block_delta", "index":${index},"delta":{${inside}}}`)
  const stop = (index: number) => frame(`{"type":"content_block_stop","index":${index}}`)
  const end =
    frame(
      '{"type":"message_delta","delta":{"stop_reason":"end_turn","n":9007199254740993},"usage":{"output_tokens":4}}',
    ) + frame('{"type":"message_stop"}')

  const words = ['Gr\\u00fc\\u00dfe ', '\\"quoted\\" ', '東京 🦆', '', '\\\\', 'a\\/b']
  const texts = words.map((word) => delta(0, `"type":"text_delta","text":"${word}"`)).join('')
  const args = ['{\\"id\\": 9007', '199254740993', ', \\"a\\": \\"}\\"}']
    .map((piece) => delta(2, `"type":"input_json_delta", "partial_json":"${piece}"`))
    .join('')
  const middle =
    begin(0, '{"type":"text","text":"", "citations": []}') +
    texts +
    stop(0) +
    begin(1, `{"type":"tool_use","id":"t0","name":"whole","input":${input},"caller": {"type":"direct"}}`) +
    stop(1) +
    begin(2, '{"type":"tool_use","id":"t1","name":"a","input":{},"caller": {"type":"direct"}}') +
    args +
    stop(2)

  test('shows every frame between its beginning and its end as it came, wherever reads end', () => {
    const bytes = bytesOf(start + middle + end)
    const all = Array.from(bytes.keys())
    for (const cuts of [[], all, all.filter((at) => at % 7 === 0), all.filter((at) => at % 401 === 0)]) {
      const { shown, ending, rewriter } = runStream(
        codec.createStream(testContext, quirks, undefined as never),
        bytes,
        cuts,
      )
      expect(rewriter.failure).toBeNull()
      const at = shown.indexOf('event: content_block_start')
      expect(shown.slice(at)).toBe(middle)
      expect(shown.slice(0, at)).toStartWith(
        'event: message_start\ndata: {"type": "message_start","message":{"id":"gen-1-abc","type":"message","role":"assistant", "content": [],"model":"openai/gpt-4o-mini","n": 9007199254740993,"usage":{"input_tokens":3,',
      )
      expect(ending).toStartWith(
        'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn","n":9007199254740993,"stop_sequence":null,"stop_details":null,"container":null},"usage":{"input_tokens":3,',
      )
      expect(ending).toEndWith('event: message_stop\ndata: {"type":"message_stop"}\n\n')
    }
  })

  test('has the same counts whether its deltas are parsed or only compared', () => {
    const plain = (texts_: readonly string[]) =>
      bytesOf(
        start +
          begin(0, '{"type":"text","text":"", "citations": []}') +
          texts_.map((text) => delta(0, `"type":"text_delta","text":"${text}"`)).join('') +
          stop(0) +
          end,
      )
    const reading = (bytes: Uint8Array) =>
      runStream(codec.createStream(testContext, quirks, undefined as never), bytes).rewriter.reading()
    const many = reading(plain(Array.from({ length: 50 }, () => 'word ')))
    expect(many).toMatchObject({
      outputBytes: 250,
      outputPieces: 50,
      usage: { inputTokens: 3, outputTokens: 4 },
    })
    expect(reading(plain(['', '']))).toMatchObject({ outputBytes: 0, outputPieces: 0 })
  })

  test('is parsed where a member must be read or edited, not for every delta', () => {
    const deltas = Array.from({ length: 2_000 }, (_, index) =>
      delta(0, `"type":"thinking_delta","thinking":"word ${index} "`),
    )
    const bytes = bytesOf(
      start + begin(0, '{"type":"thinking","thinking":""}') + deltas.join('') + stop(0) + end,
    )
    const parse = spyOn(JSON, 'parse')
    try {
      const { shown } = runStream(codec.createStream(testContext, quirks, undefined as never), bytes)
      expect(parse.mock.calls.length).toBeLessThan(20)
      expect(shown).toContain('word 1999 ')
    } finally {
      parse.mockRestore()
    }
  })

  test('breaks where a delta is not JSON, even after deltas that are only compared', () => {
    for (const broken of ['"type":"text_delta","text":"a\\x"', '"type":"text_delta","text":"a\tb"']) {
      const bytes = bytesOf(
        start +
          begin(0, '{"type":"text","text":"", "citations": []}') +
          texts +
          delta(0, broken) +
          stop(0) +
          end,
      )
      const rewriter = codec.createStream(testContext, quirks, undefined as never)
      const shown = rewriter.push(bytes)
      expect(rewriter.failure).toMatchObject({ type: 'provider_failed' })
      expect(Buffer.from(shown ?? '').toString('utf8')).toEndWith(texts)
    }
  })
})
