import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { at, eventsOf, say, simulatorForTests } from './testing.ts'
import { isObject } from './json.ts'

// Recorded real answers are not part of the product. Where they are not at hand, these tests skip and say so by name.
const recordings = process.env['HEADRACE_RECORDINGS'] ?? join(import.meta.dir, '../../shared/recordings')
const openai = join(recordings, 'ai-sdk/openai/src')
const isThere = existsSync(openai)
const simulator = simulatorForTests()

function recorded(path: string): unknown {
  return JSON.parse(readFileSync(join(openai, path), 'utf8'))
}

/** The shape of a value: its members in order with the kinds of their values; of lists, the first entry. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? [] : [shapeOf(value[0])]
  if (!isObject(value)) return value === null ? 'null' : typeof value
  return Object.entries(value).map(([name, member]) => [name, shapeOf(member)])
}

describe.skipIf(!isThere)(
  'an answer has the shape of a recorded one (skipped without the recordings)',
  () => {
    test('for chat', async () => {
      const { json } = await simulator.post('/chat/completions', { body: say('hi') })
      expect(shapeOf(json)).toEqual(shapeOf(recorded('chat/__fixtures__/openai-text.json')))
    })

    test('for every kind of streamed chunk, in the recorded order', async () => {
      const lines = readFileSync(join(openai, 'chat/__fixtures__/openai-text.chunks.txt'), 'utf8')
        .trim()
        .split('\n')
      const real = lines.map((line): unknown => JSON.parse(line))
      const body = say('hi', { stream: true, stream_options: { include_usage: true } })
      const events = eventsOf((await simulator.post('/chat/completions', { body })).text)
      expect(events.pop()).toBe('[DONE]')
      for (const position of [0, 1, -2, -1])
        expect(shapeOf(events.at(position))).toEqual(shapeOf(real.at(position)))
    })

    test('for embeddings', async () => {
      const body = { model: 'text-embedding-3-small', input: ['a', 'b'] }
      const { json } = await simulator.post('/embeddings', { body })
      expect(shapeOf(json)).toEqual(shapeOf(recorded('embedding/__fixtures__/openai-embedding.json')))
    })

    test('for a transcription with words', async () => {
      const body = new FormData()
      body.set('model', 'whisper-1')
      body.set('response_format', 'verbose_json')
      body.set('timestamp_granularities[]', 'word')
      body.set('file', new File([new Uint8Array(16_000)], 'a.mp3'))
      const { json } = await simulator.post('/audio/transcriptions', { body, fault: 'scripted' })
      expect(shapeOf(json)).toEqual(shapeOf(recorded('transcription/__fixtures__/openai-transcription.json')))
      expect(at(json, 'words.0')).toBeDefined()
    })
  },
)
