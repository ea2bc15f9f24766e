import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { joinPieces } from '../../../core/body.ts'
import { streamTemplatesUnusedMax } from './stream-passage.ts'
import { chatQuirks } from '../chat/quirks.ts'
import { createChatStream } from '../chat/pass-stream.ts'
import { framesOf, runStream, streamOf, testContext } from '../testing.ts'

const base = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm', usage: null }

function chunk(delta: object, choice: object = {}, extra: object = {}) {
  return { ...base, choices: [{ index: 0, delta, logprobs: null, finish_reason: null, ...choice }], ...extra }
}

function run(bytes: Uint8Array, cuts: readonly number[] = []) {
  return runStream(createChatStream(testContext, chatQuirks()), bytes, cuts)
}

/** Frames that all differ: after them a stream stops learning, so every later frame is parsed. */
const unlike = Array.from({ length: streamTemplatesUnusedMax }, (_, n) =>
  chunk({ content: 'x' }, {}, { [`only_${n}`]: n }),
)

/** The first frame of a choice is shown with a role, whatever it has. */
const begun = [0, 1].map((index) => chunk({ role: 'assistant' }, { index }))

/** The same frames, all parsed. */
function runParsed(payloads: readonly unknown[]) {
  return runAfter([...begun, ...unlike], streamOf([...begun, ...unlike, ...payloads]))
}

/** What is shown of a stream after its first frames. */
function runAfter(first: readonly unknown[], bytes: Uint8Array, cuts: readonly number[] = []) {
  const result = run(bytes, cuts)
  return { ...result, shown: result.shown.slice(run(streamOf(first)).shown.length) }
}

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.constantFrom('"', '\\', '\\"', '\n\n', '\u0000', '\ud83e', '\udd86', '"},"finish_reason":"stop"'),
)
const padding = fc.option(
  fc.stringMatching(/^[a-zA-Z0-9]{1,8}$/).map((obfuscation) => ({ obfuscation })),
  { nil: {} },
)
const payload = fc.oneof(
  { weight: 8, arbitrary: fc.tuple(text, padding).map(([content, extra]) => chunk({ content }, {}, extra)) },
  text.map((content) => ({ choices: [{ delta: { content }, index: 0 }], ...base })),
  text.map((content) => chunk({ content, refusal: null })),
  text.map((refusal) => chunk({ refusal })),
  text.map((content) => chunk({ content }, { index: 1 })),
  text.map((content) => chunk({ content }, { logprobs: { content: [{ token: content, logprob: -1 }] } })),
  fc.tuple(text, text).map(([one, two]) => ({
    ...base,
    choices: [one, two].map((content, index) => ({ index, delta: { content }, finish_reason: null })),
  })),
  text.map((reasoning) => chunk({ reasoning_content: reasoning })),
  text.map((part) => chunk({ tool_calls: [{ index: 0, function: { arguments: part } }] })),
  fc.constant(chunk({ tool_calls: [{ index: 0, id: 'call_1', function: { name: 'f', arguments: '' } }] })),
)

describe('a frame that fits a template', () => {
  test('has the same bytes as if it had been parsed, wherever its reads end', () => {
    fc.assert(
      fc.property(
        fc.array(payload, { minLength: 2, maxLength: 30 }),
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 8 }),
        (payloads, shares) => {
          const ended = [...payloads, chunk({}, { finish_reason: 'stop' })]
          const bytes = streamOf([...begun, ...ended])
          const cuts = shares.map((share) => Math.floor(share * bytes.length))
          const fitted = runAfter(begun, bytes, cuts)
          const parsed = runParsed(ended)
          expect(fitted.rewriter.failure).toBeNull()
          expect(fitted.shown).toBe(parsed.shown)
          expect(fitted.ending).toBe(parsed.ending)
          const { outputPieces } = fitted.rewriter.reading()
          expect(outputPieces).toBe(parsed.rewriter.reading().outputPieces - unlike.length)
        },
      ),
    )
  })

  test('is cut anywhere, also inside a character', () => {
    const bytes = streamOf([...'aé🦆\\"'].map((content) => chunk({ content })))
    const whole = run(bytes).shown
    for (let cut = 1; cut < bytes.length; cut += 1) expect(run(bytes, [cut]).shown).toBe(whole)
  })
})

describe('a frame with an invalid text', () => {
  const encoded = JSON.stringify(chunk({ content: '@' }, {}, { obfuscation: '#' }))
  const streamWith = (mark: string, inside: Buffer) => {
    const [head = '', tail = ''] = encoded.split(mark)
    const frames = Buffer.from(streamOf([chunk({ content: 'a' }, {}, { obfuscation: 'b' })], { done: false }))
    return Buffer.concat([frames, Buffer.from(`data: ${head}`), inside, Buffer.from(`${tail}\n\n`)])
  }

  test.each(['\u0000', '\t', 'a\nb', '\\x', '\\u00g0', '\\u00\\\\41', '\\\\\\a'])(
    'fails the stream as if it had been parsed: %j',
    (inside) => {
      for (const mark of ['@', '#']) {
        const rewriter = createChatStream(testContext, chatQuirks())
        rewriter.push(streamWith(mark, Buffer.from(inside)))
        expect(rewriter.failure?.type).toBe('provider_failed')
      }
    },
  )

  test('never sends invalid UTF-8 to the caller', () => {
    for (const mark of ['@', '#']) {
      const rewriter = createChatStream(testContext, chatQuirks())
      const shown = rewriter.push(streamWith(mark, Buffer.from([0x61, 0xff, 0x62])))
      const decoded = new TextDecoder('utf-8', { fatal: true }).decode(joinPieces([shown ?? '']))
      expect(JSON.stringify(framesOf(decoded)[1])).toContain('a\ufffdb')
    }
  })

  test('keeps escapes that are whole', () => {
    for (const inside of ['\\\\', '\\"', '\\u00e9\\/', '\\ud83e\\udd86', '\\\\\\n']) {
      const shown = run(streamWith('@', Buffer.from(inside))).shown
      expect(JSON.stringify(framesOf(shown)[1])).toContain(
        `"content":${JSON.stringify(JSON.parse(`"${inside}"`))}`,
      )
    }
  })
})
