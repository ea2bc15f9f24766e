import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ask, at, eventsOf, namedEventsOf, respondTo, say, simulatorForTests } from './testing.ts'
import { isObject } from './json.ts'

// Recorded real answers are not part of the product. Where they are not at hand, these tests skip and say so by name.
const recordings = process.env['HEADRACE_RECORDINGS'] ?? join(import.meta.dir, '../../shared/recordings')
const openai = join(recordings, 'ai-sdk/openai/src')
const anthropic = join(recordings, 'ai-sdk/anthropic/src/__fixtures__')
const isThere = existsSync(openai) && existsSync(anthropic)
const simulator = simulatorForTests()

function recorded(path: string): unknown {
  return JSON.parse(readFileSync(join(openai, path), 'utf8'))
}

/** The data of a recorded stream's events. */
function recordedEvents(path: string): unknown[] {
  const lines = readFileSync(path, 'utf8').trim().split('\n')
  return lines.map((line): unknown => JSON.parse(line))
}

/** The first event of each kind, by its kind. */
function firstOfEach(events: readonly unknown[]): Map<string, unknown> {
  const first = new Map<string, unknown>()
  for (const event of events) {
    const part = at(event, 'delta.type') ?? at(event, 'content_block.type') ?? ''
    const kind = `${String(at(event, 'type'))} ${String(part)}`.trim()
    if (!first.has(kind)) first.set(kind, event)
  }
  return first
}

/** The members of a value with the kinds of their values, in whatever order; of lists, the first entry. */
function membersOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(membersOf)
  if (!isObject(value)) return value === null ? 'null' : typeof value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, membersOf(member)]))
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

    test('for a message', async () => {
      const { json } = await simulator.post('/messages', { body: ask('hi') })
      const real: unknown = JSON.parse(readFileSync(join(anthropic, 'anthropic-text.json'), 'utf8'))
      expect(shapeOf(json)).toEqual(shapeOf(real))
    })

    test('for a refused message and a message that thinks', async () => {
      const refused = await simulator.post('/messages', { body: ask('hi'), fault: 'refusal=No' })
      const real: unknown = JSON.parse(readFileSync(join(anthropic, 'anthropic-refusal.json'), 'utf8'))
      const { stop_details: _, ...own } = refused.json
      const { stop_details: __, ...theirs } = isObject(real) ? real : {}
      expect(membersOf(own)).toEqual(membersOf(theirs))
      const thought = await simulator.post('/messages', {
        body: ask('hi', { model: 'claude-opus-5', thinking: { type: 'adaptive' } }),
      })
      const path = join(anthropic, 'anthropic-claude-opus-5-reasoning-high.1.json')
      const thinking: unknown = JSON.parse(readFileSync(path, 'utf8'))
      expect(membersOf(at(thought.json, 'content'))).toEqual(membersOf(at(thinking, 'content')))
    })

    test('for every kind of event of a Messages stream', async () => {
      const tool = { name: 'look', input_schema: { type: 'object', properties: {} } }
      for (const [name, more] of [
        ['anthropic-text', {}],
        ['anthropic-tool-no-args', { tools: [tool], tool_choice: { type: 'any' } }],
        ['anthropic-clear-thinking.1', { thinking: { type: 'enabled', budget_tokens: 1024 } }],
      ] as const) {
        const real = firstOfEach(recordedEvents(join(anthropic, `${name}.chunks.txt`)))
        const body = ask('hi', { stream: true, ...more })
        const events = namedEventsOf((await simulator.post('/messages', { body })).text)
        for (const [kind, event] of firstOfEach(events)) {
          // Usage and context management grow with what a request asks for; only text is compared with all its members.
          const isCompared = name === 'anthropic-text' || !kind.startsWith('message_')
          if (isCompared && real.has(kind)) expect(membersOf(event)).toEqual(membersOf(real.get(kind)))
        }
      }
    })

    test('for a response, and for every kind of event of its stream', async () => {
      const settings = {
        model: 'gpt-5.4',
        reasoning: { effort: 'high', summary: 'detailed' },
        include: ['reasoning.encrypted_content'],
        store: false,
        tools: [
          {
            type: 'function',
            name: 'look',
            description: 'Looks.',
            parameters: { type: 'object', properties: {}, additionalProperties: false },
            strict: true,
          },
        ],
      }
      const { json } = await simulator.post('/responses', { body: respondTo('hi', settings) })
      const real = recorded('responses/__fixtures__/openai-reasoning-encrypted-content.1.json')
      const { completed_at: _, tools: __, ...own } = json
      const { billing: ___, tools: ____, ...theirs } = isObject(real) ? real : {}
      expect(membersOf(own)).toEqual(membersOf(theirs))
      const path = 'responses/__fixtures__/openai-reasoning-encrypted-content.1.chunks.txt'
      const realEvents = firstOfEach(recordedEvents(join(openai, path)))
      const body = respondTo('look', { ...settings, stream: true })
      const events = firstOfEach(namedEventsOf((await simulator.post('/responses', { body })).text))
      for (const kind of [
        'response.output_item.added',
        'response.reasoning_summary_part.added',
        'response.reasoning_summary_text.delta',
        'response.reasoning_summary_text.done',
        'response.reasoning_summary_part.done',
        'response.output_item.done',
        'response.function_call_arguments.delta',
        'response.function_call_arguments.done',
      ])
        expect([kind, membersOf(events.get(kind))]).toEqual([kind, membersOf(realEvents.get(kind))])
    })
  },
)
