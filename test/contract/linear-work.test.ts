import { expect, test } from 'bun:test'
import { testCharge, testContext, testEndpoint } from '../../src/formats/text/testing.ts'
import { selectCodec } from '../../src/formats/text/formats.ts'
import { chatCompletions, messages, responses } from '../../src/formats/text/text-operations.ts'
import { entitiesOfOffsets } from '../../src/formats/transcription/entity-spans.ts'
import { presets } from '../../src/providers/registry.ts'
import { streams, wholeAnswers, type UpstreamFormat } from '../prove/linear/answers.ts'
import { shapes, type CallerFormat } from '../prove/linear/requests.ts'
import { costOf } from '../prove/linear/thread-time.ts'

/** Cases whose cost once grew with the square of their size must be linear. `npm run prove -- linear` walks all of them,
 * at every host. Processor time of this thread is compared, which other programs do not add to.
 */

const operations = { chat: chatCompletions, responses, messages }
const encode = (text: string): Uint8Array => new TextEncoder().encode(text)

/** A square of four times as many is sixteen times as much. */
const ratioMax = 8

const runsMax = 6

/** Of runs with `count` and with four times as many, the least that each costs; runs until that is no square. */
function ratioOf(workOf: (count: number) => () => unknown, count: number): number {
  const few = workOf(count)
  const many = workOf(count * 4)
  few()
  let [leastOfFew, leastOfMany] = [Infinity, Infinity]
  let ratio = Infinity
  for (let run = 0; run < runsMax && ratio >= ratioMax; run += 1) {
    leastOfFew = Math.min(leastOfFew, costOf(few))
    leastOfMany = Math.min(leastOfMany, costOf(many))
    // In a run below a few milliseconds garbage collection would be most of the cost.
    ratio = leastOfMany / Math.max(leastOfFew, 6)
  }
  return ratio
}

function interfaceOf(slug: string, format: UpstreamFormat) {
  const found = presets
    .find((preset) => preset.slug === slug)
    ?.adapters.language?.find((each) => each.format === format)
  if (found === undefined) throw new Error(`${slug} has no ${format}`)
  return found
}

function requestWork(caller: CallerFormat, shape: string, slug: string, format: UpstreamFormat) {
  return (count: number) => {
    const bytes = encode(JSON.stringify(shapes[caller][shape]?.(count)))
    const call = operations[caller].decode(bytes, { sessionIdHeader: null })
    const { quirks } = interfaceOf(slug, format)
    const endpoint = testEndpoint('model', slug)
    return () => selectCodec(caller, format).encodeRequest(call, endpoint, quirks)
  }
}

const plainCalls = {
  chat: '{"model":"a/b","messages":[{"role":"user","content":"x"}],"stream":true}',
  responses: '{"model":"a/b","input":"x","stream":true}',
  messages: '{"model":"a/b","max_tokens":9,"messages":[{"role":"user","content":"x"}],"stream":true}',
}

function streamWork(caller: CallerFormat, shape: string, slug: string, format: UpstreamFormat) {
  return (count: number) => {
    const frames = streams[format][shape]?.(count).map((each) => `data: ${JSON.stringify(each)}\n\n`) ?? []
    const bytes = encode(`${frames.join('')}${format === 'chat' ? 'data: [DONE]\n\n' : ''}`)
    const call = operations[caller].decode(encode(plainCalls[caller]), { sessionIdHeader: null })
    const { quirks } = interfaceOf(slug, format)
    return () => {
      const stream = selectCodec(caller, format).createStream(testContext, quirks, call)
      for (let at = 0; at < bytes.length; at += 65_536) stream.push(bytes.subarray(at, at + 65_536))
      stream.end()
      if (stream.failure === null) stream.encodeEnding(testCharge)
      return stream.failure
    }
  }
}

function answerWork(caller: CallerFormat, shape: string, slug: string, format: UpstreamFormat) {
  return (count: number) => {
    const bytes = encode(JSON.stringify(wholeAnswers[format][shape]?.(count)[0]))
    const call = operations[caller].decode(encode(plainCalls[caller]), { sessionIdHeader: null })
    const { quirks } = interfaceOf(slug, format)
    return () => selectCodec(caller, format).decodeAnswer(bytes, testContext, quirks, call).encode(testCharge)
  }
}

for (const [caller, shape] of [
  ['chat', 'calls and results'],
  ['chat', 'sealed thoughts of calls'],
  ['responses', 'calls and results, backwards'],
  ['messages', 'results and words in turn'],
] as const) {
  test(`${shape} of a ${caller} caller to Gemini cost as much for each as few of them`, () => {
    expect(ratioOf(requestWork(caller, shape, 'google-ai-studio', 'gemini'), 3_000)).toBeLessThan(ratioMax)
  })
}

test('calls and results of a messages caller to Gemini cost as much for each as few of them', () => {
  const work = requestWork('messages', 'calls and results', 'google-ai-studio', 'gemini')
  expect(ratioOf(work, 3_000)).toBeLessThan(ratioMax)
})

// Of more than 10,000 a stream fails by name.
for (const [caller, shape, slug, format, count] of [
  ['responses', 'open blocks', 'anthropic', 'messages', 2_400],
  ['chat', 'open calls', 'anthropic', 'messages', 2_400],
  ['responses', 'logprobs', 'openai', 'chat', 8_000],
] as const) {
  test(`${shape} of a stream of ${slug} cost as much for each as few of them, for a ${caller} caller`, () => {
    expect(ratioOf(streamWork(caller, shape, slug, format), count)).toBeLessThan(ratioMax)
  })
}

test('calls of a whole answer of OpenAI cost as much for each as few of them', () => {
  expect(ratioOf(answerWork('chat', 'calls', 'openai', 'responses'), 2_400)).toBeLessThan(ratioMax)
})

test('entities that a transcript does not have cost as much for each as few of them', () => {
  const work = (count: number) => {
    const text = 'High water at nine. '.repeat(count)
    const told = Array.from({ length: count }, (_, index) => ({
      text: `Nobody ${index}`,
      type: 'person',
      start: -2,
      end: -1,
    }))
    return () => entitiesOfOffsets(text, told)
  }
  expect(ratioOf(work, 1_500)).toBeLessThan(ratioMax)
})
