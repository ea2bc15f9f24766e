import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { joinPieces } from '../core/body.ts'
import {
  leanBodyBytesMin,
  leanTextBytesMin,
  setAsideTextBytesMin,
  wholeBodyBytesMax,
} from '../core/limits/text.ts'
import {
  isSetAsideWithin,
  leanOf,
  leaveOutTexts,
  lookInto,
  putTextsBack,
  type SetAsideTexts,
  setTextsAside,
  wholeBytesOf,
  leanProbeTextBytesMin,
  setAsideTextsSearchedMax,
  leanStepQuotes,
} from './set-aside-texts.ts'
import { type LeanJson, memberBytes, parseJsonDocument } from './document.ts'
import { GatewayError } from '../core/errors.ts'
import { encodeChatRequest } from '../formats/text/chat/pass-request.ts'
import { chatQuirks } from '../formats/text/chat/quirks.ts'
import { decodeChatRequest } from '../formats/text/chat/read-request.ts'
import { testEndpoint } from '../formats/text/testing.ts'

const long = `"quoted" \\ é 😀 \n ${'words and words '.repeat(setAsideTextBytesMin / 16)}`
const bytesOf = (json: string) => new TextEncoder().encode(json)

function setAside(value: unknown): SetAsideTexts {
  const aside = setTextsAside(bytesOf(JSON.stringify(value)))
  if (aside === null) throw new Error('nothing was set aside')
  return aside
}

const putBack = (value: unknown, aside: SetAsideTexts) =>
  new TextDecoder().decode(joinPieces(putTextsBack(JSON.stringify(value), aside)))

describe('long texts', () => {
  test('are set aside and come back byte for byte, in whatever order', () => {
    const value = { a: 'short', content: long, b: [{ text: `${long}2` }], arguments: '{}' }
    const aside = setAside(value)
    expect(aside.skeleton.length).toBeLessThan(400)
    const parsed = JSON.parse(aside.skeleton)
    expect(putBack(parsed, aside)).toBe(JSON.stringify(value))
    const turned = { arguments: '{}', b: value.b, content: `${long}, ${long}2` }
    expect(
      putBack({ arguments: '{}', b: parsed.b, content: `${parsed.content}, ${parsed.b[0].text}` }, aside),
    ).toBe(JSON.stringify(turned))
  })

  test('count with the same size as in the whole document', () => {
    const aside = setAside({ content: long })
    const { content } = JSON.parse(aside.skeleton)
    expect(wholeBytesOf(`${content}é`, aside)).toBe(Buffer.byteLength(`${long}é`))
    expect(wholeBytesOf('é', aside)).toBe(2)
  })

  test('report when an edit puts them inside another JSON text', () => {
    const { skeleton } = setAside({ arguments: { content: long } })
    const parsed = JSON.parse(skeleton)
    expect(isSetAsideWithin(JSON.stringify(parsed.arguments))).toBe(true)
    expect(isSetAsideWithin(parsed.arguments.content)).toBe(false)
  })

  test('stay in place under an unlisted name, as a name, or in a list', () => {
    for (const value of [{ id: long }, { [long]: 1 }, { content: [long] }, [long], ['content', long]])
      expect(setTextsAside(bytesOf(JSON.stringify(value)))).toBeNull()
  })

  test('stay in place when the document is short, not UTF-8, broken, or has very many strings', () => {
    expect(setTextsAside(bytesOf('{"content":"x"}'))).toBeNull()
    const broken = Buffer.from(JSON.stringify({ content: long }))
    broken[100] = 0xff
    expect(setTextsAside(broken)).toBeNull()
    broken[100] = 0x0a
    expect(setTextsAside(broken)).toBeNull()
    expect(setTextsAside(bytesOf(`{"content":"${long}`))).toBeNull()
    const many = Array.from({ length: setAsideTextsSearchedMax }, () => '')
    expect(setTextsAside(bytesOf(JSON.stringify({ many, content: long })))).toBeNull()
  })

  test('leave broken JSON around them broken', () => {
    const text = JSON.stringify(long)
    for (const json of [
      `{"content":${text}`,
      `{"content":${text},}`,
      `{"content":${text} ${text}}`,
      `{"a":\\"content":${text}}`,
    ]) {
      const aside = setTextsAside(bytesOf(json))
      expect(() => JSON.parse(aside?.skeleton ?? json)).toThrow()
    }
  })
})

const textOf = (bytes: Uint8Array | null) => new TextDecoder().decode(bytes ?? new Uint8Array())
const longText = `"quoted" \\ é 😀 \n ${'words and words '.repeat(leanTextBytesMin / 8)}`

function lean(bytes: Uint8Array): { lean: LeanJson; steps: number } {
  const work = leaveOutTexts(bytes)
  for (let steps = 1; ; steps += 1) {
    const { done, value } = work.next()
    if (done) return { lean: value, steps }
  }
}

function leanDocument(json: string) {
  const bytes = bytesOf(json)
  return parseJsonDocument(bytes, lean(bytes).lean)
}

const texts = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constant(longText),
  fc.constant('\\'.repeat(600)),
)
const value = fc.letrec((tie) => ({
  any: fc.oneof({ maxDepth: 4 }, texts, fc.integer(), fc.constant(null), tie('list'), tie('object')),
  list: fc.array(tie('any'), { maxLength: 4 }),
  object: fc.dictionary(fc.oneof(fc.constantFrom('content', 'id', 'tool_call_id'), texts), tie('any'), {
    maxKeys: 4,
  }),
})).object

describe('a large document', () => {
  test('has the members, and every value, that it would have if it were small', () => {
    fc.assert(
      fc.property(value, fc.constantFrom(undefined, 2), (body, space) => {
        const json = JSON.stringify(body, null, space)
        const whole = parseJsonDocument(bytesOf(json))
        const document = leanDocument(json)
        expect([...document.members]).toEqual([...whole.members])
        for (const name of whole.members.keys()) {
          const member = lookInto(document, name)
          const restored = joinPieces(member?.restore(JSON.stringify(member.value())) ?? [])
          expect(JSON.parse(textOf(restored))).toEqual(JSON.parse(textOf(memberBytes(whole, name))))
        }
      }),
    )
  })

  test('is looked into without its longer texts, but with names and ids', () => {
    const body = {
      messages: [
        { content: longText, [longText]: 1, tool_call_id: longText, id: longText, list: [longText] },
      ],
    }
    const member = lookInto(leanDocument(JSON.stringify(body)), 'messages')
    const [message] = (member?.value() ?? []) as Record<string, string>[]
    expect(Object.keys(message ?? {})).toEqual(['content', longText, 'tool_call_id', 'id', 'list'])
    expect(message).toMatchObject({ tool_call_id: longText, id: longText })
    expect(message?.['content']?.length).toBeLessThan(100)
    expect(member?.lengthOf(message?.['content'] ?? '')).toBe(Buffer.byteLength(JSON.stringify(longText)) - 2)
    expect(member?.lengthOf('short')).toBe(5)
  })

  test('is taken apart in short steps, whatever its texts hold', () => {
    for (const text of ['"'.repeat(leanStepQuotes * 8), '\\"'.repeat(leanStepQuotes * 4)])
      expect(lean(bytesOf(JSON.stringify({ text }))).steps).toBeGreaterThan(4)
    const many = Array.from({ length: leanStepQuotes * 2 }, () => '')
    expect(lean(bytesOf(JSON.stringify(many))).steps).toBeGreaterThan(2)
  })

  test('that is broken is refused', () => {
    const open = `{"a":"${'x'.repeat(1_000)}`
    for (const json of [open, `${open}\\"`, `${open}"`, `${open}",}`, `${open}"}{`, `${open}" "b":1}`])
      expect(() => leanDocument(json)).toThrow(GatewayError)
  })
})

describe('a body is parsed without its longer texts', () => {
  const of = (text: string, size: number) =>
    bytesOf(JSON.stringify(Array.from({ length: Math.ceil(size / (text.length + 3)) }, () => text)))
  const short = 'a few words '.repeat(10)
  const story = 'a few words '.repeat(leanProbeTextBytesMin / 8)

  test('when its texts are long, from a certain length on', async () => {
    expect(await leanOf(of(story, leanBodyBytesMin - 20_000))).toBeNull()
    for (const text of [story, 'A'.repeat(leanBodyBytesMin)]) {
      const bytes = of(text, leanBodyBytesMin)
      const found = await leanOf(bytes)
      expect(found?.bytes.length).toBeLessThan(bytes.length / 10)
    }
  })

  test('and always when parsing it would block other calls', async () => {
    expect(await leanOf(of(short, wholeBodyBytesMax - 20_000))).toBeNull()
    expect(await leanOf(of(short, wholeBodyBytesMax))).not.toBeNull()
  })
})

describe('a large chat request', () => {
  const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${'iVBORw0K'.repeat(500)}` } }
  const audio = { type: 'input_audio', input_audio: { data: 'UklGRg=='.repeat(400), format: 'wav' } }
  const call = {
    id: 'call_1',
    type: 'function',
    index: 0,
    function: { name: 'f', arguments: `{"a":"${longText}"}` },
  }
  const body = {
    model: 'openai/x',
    messages: [
      { role: 'developer', content: longText },
      { role: 'user', name: 'n', content: [{ type: 'text', text: longText }, image, audio] },
      { role: 'assistant', content: null, reasoning: longText, tool_calls: [call], refusal: longText },
      {
        role: 'tool',
        tool_call_id: 'call_1',
        content: [{ type: 'text', text: longText, cache_control: {} }],
      },
    ],
  }
  const bytes = bytesOf(JSON.stringify(body))
  const small = decodeChatRequest(bytes, { sessionIdHeader: null })
  const large = decodeChatRequest(bytes, { sessionIdHeader: null, lean: lean(bytes).lean })

  test('has the same estimated size as a small one', () => {
    expect(large.demand).toEqual(small.demand)
    expect(large.parameters).toEqual(small.parameters)
  })

  test('is adapted to a provider as a small one is', () => {
    const strict = { unknownMembers: 'drop', developerRole: false, messageNames: false } as const
    const all = [
      chatQuirks(),
      chatQuirks({ ...strict, reasoningHistory: 'reasoning_content', answerMembers: false }),
      chatQuirks({ ...strict, reasoningHistory: 'drop', shortToolCallIds: true }),
    ]
    for (const quirks of all) {
      const [expected, adapted] = [small, large].map((one) =>
        JSON.parse(textOf(joinPieces(encodeChatRequest(one, testEndpoint('m'), quirks).body))),
      )
      expect(adapted).toEqual(expected)
    }
  })

  test('is large because of texts that are passed on unread, not of members that are read', () => {
    const huge = 'x'.repeat(1_000_000)
    const decodeWith = (more: object) => {
      const json = bytesOf(JSON.stringify({ ...body, ...more }))
      return () => decodeChatRequest(json, { sessionIdHeader: null, lean: lean(json).lean })
    }
    const tools = [{ type: 'function', function: { name: 'f', description: huge } }]
    expect(decodeWith({ tools, prediction: { type: 'content', content: huge } })).not.toThrow()
    const schema = { type: 'json_schema', json_schema: { name: 's', schema: { description: huge } } }
    expect(decodeWith({ response_format: schema })).toThrow('"response_format" must be at most')
    expect(decodeWith({ user: huge })).toThrow('"user" must be at most')
  })

  test('is refused for faults of its messages', () => {
    for (const [index, message] of [
      { role: 'bot', content: longText },
      { role: longText },
      5,
      { role: 'user', content: 5 },
    ].entries()) {
      const wrong = bytesOf(
        JSON.stringify({ model: 'm', messages: [{ role: 'user', content: longText }, message] }),
      )
      const act = () => decodeChatRequest(wrong, { sessionIdHeader: null, lean: lean(wrong).lean })
      expect(act, String(index)).toThrow('messages[1]')
    }
  })
})
