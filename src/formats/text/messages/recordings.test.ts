import { describe, expect, test } from 'bun:test'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { joinEvents, type Answer } from '../../../canonical/text/answer.ts'
import type { TextEvent } from '../../../canonical/text/events.ts'
import { chatAnswerSchema, chatChunkSchema } from '../chat/answer-schema.ts'
import { framesOf, runStream, testCharge, testContext, textOf } from '../testing.ts'
import { callers } from '../formats.ts'
import { selectCodec } from '../formats.ts'
import { translate } from '../translate.ts'
import { upstreams } from '../formats.ts'
import { readMessagesAnswer } from './read-answer.ts'
import { decodeMessagesRequest } from './read-request.ts'
import { messagesQuirks } from './quirks.ts'
import { createMessagesReader } from './read-stream.ts'

const root = process.env['HEADRACE_RECORDINGS'] ?? join(import.meta.dir, '../../../../shared/recordings')
const folder = join(root, 'ai-sdk/anthropic/src/__fixtures__')
const isThere = existsSync(folder)
if (!isThere)
  console.log('recordings are not here: set HEADRACE_RECORDINGS to check adapters against real replies')

const request = { model: 'a/b', max_tokens: 9, messages: [{ role: 'user', content: 'x' }] }
const call = decodeMessagesRequest(Buffer.from(JSON.stringify(request)), { sessionIdHeader: null })
/** The way through both halves; it must show the same as the passage of bytes. */
const translated = translate(callers.messages, upstreams.messages)

interface Block {
  type: string
  text?: string
  thinking?: string
  signature?: string
  name?: string
  id?: string
  input?: unknown
}

/** The contents of the recording, read without the code under test. */
interface Told {
  texts: string
  thoughts: string
  signatures: string[]
  calls: { id: string; name: string; input: unknown }[]
  stop: string | null
}

function toldByBlocks(blocks: readonly Block[], stop: string | null): Told {
  const of = (type: string) => blocks.filter((block) => block.type === type)
  return {
    texts: of('text')
      .map(({ text }) => text ?? '')
      .join(''),
    thoughts: of('thinking')
      .map(({ thinking }) => thinking ?? '')
      .join(''),
    signatures: of('thinking').flatMap(({ signature }) => (signature ? [signature] : [])),
    calls: of('tool_use').map(({ id = '', name = '', input }) => ({ id, name, input: input ?? {} })),
    stop,
  }
}

function blocksOfStream(payloads: readonly Record<string, unknown>[]): {
  blocks: Block[]
  stop: string | null
} {
  const blocks: (Block & { json?: string })[] = []
  let stop: string | null = null
  for (const payload of payloads) {
    const delta = (payload['delta'] ?? {}) as Record<string, string>
    const block = blocks.at(-1)
    if (payload['type'] === 'content_block_start') blocks.push({ ...(payload['content_block'] as Block) })
    if (payload['type'] === 'message_delta') stop ??= delta['stop_reason'] ?? null
    if (payload['type'] !== 'content_block_delta' || !block) continue
    if (delta['text'] !== undefined) block.text = (block.text ?? '') + delta['text']
    if (delta['thinking'] !== undefined) block.thinking = (block.thinking ?? '') + delta['thinking']
    if (delta['signature'] !== undefined) block.signature = delta['signature']
    if (delta['partial_json'] !== undefined) block.json = (block.json ?? '') + delta['partial_json']
  }
  for (const block of blocks) if (block.json) block.input = inputOf(block.json)
  return { blocks, stop }
}

/** An answer that was cut off has incomplete arguments. */
function inputOf(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return json
  }
}

function toldByAnswer({ choices }: Answer): Told {
  const [choice] = choices
  const parts = choice?.parts ?? []
  const of = (type: string) => parts.filter(({ head }) => head.type === type)
  return {
    texts: of('text')
      .map(({ text }) => text)
      .join(''),
    thoughts: of('reasoning')
      .map(({ text }) => text)
      .join(''),
    signatures: of('reasoning').flatMap(({ signature }) => (signature ? [signature] : [])),
    calls: of('tool_call').map(({ head, text }) =>
      head.type === 'tool_call'
        ? { id: head.id, name: head.name, input: text === '' ? {} : inputOf(text) }
        : { id: '', name: '', input: null },
    ),
    stop: choice?.finish?.native ?? null,
  }
}

function readWhole(bytes: Uint8Array, cuts: readonly number[]): Answer {
  const reader = createMessagesReader(testContext)
  const events: TextEvent[] = []
  let from = 0
  for (const cut of [...cuts, bytes.length]) {
    events.push(...reader.push(bytes.subarray(from, cut)))
    from = cut
  }
  events.push(...reader.end())
  return joinEvents(events)
}

describe.if(isThere)('recorded streams of Anthropic', () => {
  for (const file of globSync(join(folder, '*.chunks.txt'))) {
    const payloads = readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line.trim() !== '')
    const wires = payloads.map((payload) => JSON.parse(payload) as Record<string, unknown>)
    const bytes = Buffer.from(
      wires.map((wire, index) => `event: ${String(wire['type'])}\ndata: ${payloads[index]}\n\n`).join(''),
    )
    const { blocks, stop } = blocksOfStream(wires)
    const told = toldByBlocks(blocks, stop)

    test(`${basename(file)} is read whole and cut anywhere`, () => {
      expect(toldByAnswer(readWhole(bytes, []))).toEqual(told)
      const places = bytes.length <= 4_096 ? Array.from(bytes.keys()) : seededPlaces(bytes.length)
      for (const place of places) expect(toldByAnswer(readWhole(bytes, [place]))).toEqual(told)
      expect(toldByAnswer(readWhole(bytes, Array.from(bytes.keys())))).toEqual(told)
    })

    test(`${basename(file)} passes to a caller of its own format, with the same contents as through both halves`, () => {
      for (const halves of [selectCodec('messages', 'messages'), translated]) {
        const rewriter = halves.createStream(testContext, messagesQuirks(), call)
        const { shown, ending } = runStream(rewriter, bytes, seededPlaces(bytes.length))
        expect(rewriter.failure).toBeNull()
        expect(toldByAnswer(readWhole(Buffer.from(shown + ending), []))).toEqual(told)
        expect(rewriter.reading().usage?.outputTokens).toBeGreaterThan(0)
      }
    })

    test(`${basename(file)} becomes chunks that the contract's client takes`, () => {
      const rewriter = selectCodec('chat', 'messages').createStream(
        testContext,
        messagesQuirks(),
        undefined as never,
      )
      const { shown, ending } = runStream(rewriter, bytes, seededPlaces(bytes.length))
      const frames = framesOf(shown + ending)
      for (const frame of frames) expect(chatChunkSchema.safeParse(frame).error).toBeUndefined()
      expect(rewriter.failure).toBeNull()
      expect(rewriter.reading().usage?.outputTokens).toBeGreaterThan(0)
      const deltas = frames.flatMap(
        (frame) => (frame['choices'] as { delta: { content?: string } }[])[0]?.delta ?? [],
      )
      expect(deltas.map(({ content = '' }) => content).join('')).toBe(told.texts)
    })
  }
})

function seededPlaces(length: number): number[] {
  return Array.from({ length: 200 }, (_, index) => (index * 7_919 + 13) % length).toSorted((a, b) => a - b)
}

describe.if(isThere)('recorded answers of Anthropic', () => {
  for (const file of globSync(join(folder, '*.json'))) {
    const text = readFileSync(file, 'utf8')
    const wire = JSON.parse(text) as { content?: Block[]; stop_reason?: string | null; type?: string }
    if (!Array.isArray(wire.content)) continue
    const told = toldByBlocks(wire.content, wire.stop_reason ?? null)

    test(`${basename(file)} is read`, () => {
      expect(toldByAnswer(readMessagesAnswer(Buffer.from(text), testContext))).toEqual(told)
      const decoded = selectCodec('chat', 'messages').decodeAnswer(
        Buffer.from(text),
        testContext,
        messagesQuirks(),
        undefined as never,
      )
      const shown = JSON.parse(textOf(decoded.encode(testCharge)))
      expect(chatAnswerSchema.safeParse(shown).error).toBeUndefined()
      expect(shown.choices[0].message.content ?? '').toBe(told.texts)
    })
  }
})
