import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { runStream, testCharge, testContext, testEndpoint, textOf } from '../formats/text/testing.ts'
import { decodeChatRequest } from '../formats/text/chat/read-request.ts'
import { chatQuirks } from '../formats/text/chat/quirks.ts'
import { selectCodec } from '../formats/text/formats.ts'
import { isKeptNumber, parseExactly, withPlainNumbers, exactJsonLengthMax } from './values.ts'
import { leaveOutTexts } from './set-aside-texts.ts'
import { decodeMessagesRequest } from '../formats/text/messages/read-request.ts'
import { messagesQuirks } from '../formats/text/messages/quirks.ts'

const kept = [
  '9007199254740993',
  '-12345678901234567890',
  '1e400',
  '-1.5E+400',
  '1e-400',
  '0.1000000000000000055',
  '-0',
  '-0.0',
]
const ordinary = [
  '0',
  '1',
  '-1.5',
  '1.50',
  '1e3',
  '9007199254740991',
  '1e308',
  '1000000000000000000000',
  '0.10000000000000000000',
  '0e999',
]

describe('a JSON text', () => {
  for (const number of kept) {
    test(`keeps ${number} as it was written, wherever it stands`, () => {
      for (const json of [
        `{"a":${number}}`,
        `[1,${number}]`,
        `{"a":{"b":[${number},"x"]},"c":1.5}`,
        `[\n ${number} ]`,
      ])
        expect(JSON.stringify(parseExactly(json))).toBe(json.replaceAll(/\s/g, ''))
    })
  }

  for (const number of ordinary) {
    test(`has ${number} as an ordinary number`, () => {
      expect(parseExactly(`[${number},-0]`)).toEqual([Number(number), expect.anything()])
    })
  }

  test('gives the same value as JSON.parse when every number is exact', () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        expect(withPlainNumbers(parseExactly(json))).toEqual(JSON.parse(JSON.stringify(JSON.parse(json))))
      }),
    )
    const doubles = fc.double({ noDefaultInfinity: true, noNaN: true })
    fc.assert(
      fc.property(doubles, (value) => {
        const [read] = parseExactly(JSON.stringify([value, 0])) as [unknown]
        expect(isKeptNumber(read) || Object.is(read, value) || value === 0).toBe(true)
        expect(isKeptNumber(read)).toBe(false)
      }),
    )
  })

  test('of many values and long numbers is read in time', () => {
    const started = performance.now()
    parseExactly(`[${'1,'.repeat(exactJsonLengthMax / 2 - 10)}1e400]`)
    parseExactly(`[1${'0'.repeat(200_000)}1]`)
    expect(performance.now() - started).toBeLessThan(2_000)
  })
})

// The input of a tool keeps its digits from one format to the other.

const input = `{"id":9007199254740993,"deep":{"list":[1e400,-0,0.1000000000000000055,1.5]}}`
const schema = `{"type":"object","properties":{"id":{"type":"integer","maximum":9223372036854775807}}}`
const bytesOf = (text: string) => new TextEncoder().encode(text)
const context = { sessionIdHeader: null }
const anyCall = decodeChatRequest(
  bytesOf('{"model":"a/b","messages":[{"role":"user","content":"x"}]}'),
  context,
)

describe('the numbers of a tool', () => {
  test('stay as they were written from messages to chat', () => {
    const call = decodeMessagesRequest(
      bytesOf(
        `{"model":"a/b","max_tokens":9,"tools":[{"name":"a","input_schema":${schema}}],"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"a","input":${input}}]}]}`,
      ),
      context,
    )
    const sent = textOf(
      selectCodec('messages', 'chat').encodeRequest(call, testEndpoint('up'), chatQuirks()).body,
    )
    expect(sent).toContain(`"arguments":${JSON.stringify(input)}`)
    expect(sent).toContain(`"parameters":${schema}`)
  })

  test('stay as they were written in a large body, beside what is left out of it', () => {
    const words = 'word '.repeat(100)
    const given = `{"id":9007199254740993,"text":"${words}","list":[1e400,"${words}"]}`
    const bytes = bytesOf(
      `{"model":"a/b","max_tokens":9,"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"a","input":${given}}]}]}`,
    )
    const work = leaveOutTexts(bytes)
    let step = work.next()
    while (!step.done) step = work.next()
    expect(step.value.texts).toHaveLength(2)
    const call = decodeMessagesRequest(bytes, { ...context, lean: step.value })
    const sent = selectCodec('messages', 'chat').encodeRequest(call, testEndpoint('up'), chatQuirks()).body
    expect(textOf(sent)).toContain(`"arguments":${JSON.stringify(given)}`)
  })

  test('stay as they were written from chat to messages', () => {
    const call = decodeChatRequest(
      bytesOf(
        `{"model":"a/b","tools":[{"type":"function","function":{"name":"a","parameters":${schema}}}],"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"t1","type":"function","function":{"name":"a","arguments":${JSON.stringify(input)}}}]}]}`,
      ),
      context,
    )
    const sent = textOf(
      selectCodec('chat', 'messages').encodeRequest(call, testEndpoint('up'), messagesQuirks()).body,
    )
    expect(sent).toContain(`"input":${input}`)
    expect(sent).toContain(`"input_schema":${schema}`)
  })

  test('stay as they were written in chat, also where a request is completed or a message edited', () => {
    const called = `{"role":"assistant","content":null,"reasoning":"hm","tool_calls":[{"id":"t1","type":"function","function":{"name":"a","arguments":${input}}}]}`
    const call = decodeChatRequest(
      bytesOf(
        `{"model":"a/b","tools":[{"function":{"name":"a","parameters":${schema}}}],"response_format":{"type":"json_schema","json_schema":{"schema":${schema}}},"messages":[${called}]}`,
      ),
      context,
    )
    const quirks = chatQuirks({ reasoningHistory: 'drop' })
    const sent = textOf(selectCodec('chat', 'chat').encodeRequest(call, testEndpoint('up'), quirks).body)
    expect(sent).not.toContain('"reasoning"')
    expect(sent).toContain('"type":"function","function":{"name":"a"')
    expect(sent).toContain(`"arguments":${input}`)
    expect(sent).toContain(`"parameters":${schema}`)
    expect(sent).toContain(`"schema":${schema},"name":"response"`)
  })

  const message = (content: string) =>
    `{"id":"1","type":"message","role":"assistant","model":"up","content":${content},"stop_reason":"tool_use","usage":{"input_tokens":3,"output_tokens":4}}`
  const block = `{"type":"tool_use","id":"t1","name":"a","input":${input}}`

  test('stay as they were written in a whole answer of messages for chat', () => {
    const decoded = selectCodec('chat', 'messages').decodeAnswer(
      bytesOf(message(`[${block}]`)),
      testContext,
      messagesQuirks(),
      anyCall,
    )
    expect(textOf(decoded.encode(testCharge))).toContain(`"arguments":${JSON.stringify(input)}`)
  })

  test('stay as they were written in a stream of messages for chat', () => {
    const events = [
      `{"type":"message_start","message":${message('[]')}}`,
      `{"type":"content_block_start","index":0,"content_block":${block}}`,
      '{"type":"content_block_stop","index":0}',
      '{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":4}}',
      '{"type":"message_stop"}',
    ]
    const rewriter = selectCodec('chat', 'messages').createStream(testContext, messagesQuirks(), anyCall)
    const { shown, ending } = runStream(
      rewriter,
      bytesOf(events.map((event) => `data: ${event}\n\n`).join('')),
    )
    expect(rewriter.failure).toBeNull()
    expect(shown + ending).toContain(`"arguments":${JSON.stringify(input)}`)
  })

  test('stay as they were written in a whole answer of chat for messages', () => {
    const answer = `{"id":"1","object":"chat.completion","created":1,"model":"up","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"t1","type":"function","function":{"name":"a","arguments":${JSON.stringify(input)}}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7}}`
    const decoded = selectCodec('messages', 'chat').decodeAnswer(
      bytesOf(answer),
      testContext,
      chatQuirks(),
      anyCall,
    )
    expect(textOf(decoded.encode(testCharge))).toContain(`"input":${input}`)
  })
})
