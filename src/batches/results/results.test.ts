import { afterAll, expect, test } from 'bun:test'
import { partsPageMax } from '../../core/limits/batches.ts'
import { emptyUsageSum } from '../../formats/batch/batch-usage.ts'
import type { Batch } from '../../canonical/batch.ts'
import type { ResultPart } from './part-repository.ts'
import { encodePart } from './parts.ts'
import type { ResultDependencies } from './results.ts'
import { streamResults, resultsPieceBytes } from './results.ts'

const start = { sequence: 0, index: Number.MAX_SAFE_INTEGER }
const toStop: { stop(isAbrupt: boolean): unknown }[] = []
afterAll(() => toStop.forEach((server) => server.stop(true)))

interface Stored {
  texts: readonly string[]
  itemCount?: number
}

/** Parts in memory; the rows are new ones at every read, as a database's are. */
function stored(parts: readonly Stored[]): ResultDependencies & { reads(): number } {
  let reads = 0
  const rows = parts.map(({ texts, itemCount }, place) => {
    const lines = texts.map((text, item) => ({
      item,
      line: Buffer.from(`${JSON.stringify({ text })}\n`),
      usage: emptyUsageSum(),
    }))
    return { sequence: place + 1, itemCount: itemCount ?? texts.length, bytes: encodePart(lines) }
  })
  const toPart = ({ sequence, itemCount, bytes }: (typeof rows)[number]): ResultPart => ({
    id: `part_${sequence}`,
    batchId: 'batch_1',
    segmentOrdinal: 0,
    sequence,
    itemCount,
    blob: null,
    inlineBody: new Uint8Array(bytes),
    bytes: bytes.length,
  })
  const unused = (): never => {
    throw new Error('not used here')
  }
  return {
    reads: () => reads,
    segments: { listMerged: unused } as unknown as ResultDependencies['segments'],
    parts: {
      listAfter: (_batch: string, after: number, limit: number) =>
        Promise.resolve(
          rows
            .filter(({ sequence }) => sequence > after)
            .slice(0, limit)
            .map(toPart),
        ),
    } as unknown as ResultDependencies['parts'],
    payloads: {
      decompress(compressed: Uint8Array) {
        reads += 1
        return Promise.resolve(Buffer.from(compressed))
      },
    } as unknown as ResultDependencies['payloads'],
    clock: { nowMs: () => 0, monotonicMs: () => 0 },
  }
}

const batch = { id: 'batch_1' } as Batch

/** The answer of a real server, so that the pieces pass a socket. */
function answer(dependencies: ResultDependencies, cursor = start): Promise<Response> {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () => new Response(streamResults(batch, cursor, dependencies)),
  })
  toStop.push(server)
  return fetch(server.url)
}

const expected = (parts: readonly Stored[]): string =>
  parts
    .flatMap(({ texts }, part) =>
      texts.map((text, place) => `${JSON.stringify({ text, cursor: `${part + 1}-${place}` })}\n`),
    )
    .join('')

test('lines of every length around a piece come whole, over several pages', async () => {
  const around = Array.from({ length: 90 }, (_, place) => 'x'.repeat(resultsPieceBytes - 70 + place))
  const parts = [
    { texts: ['a', 'é\n"', ''] },
    { texts: around },
    { texts: ['y'.repeat(3 * resultsPieceBytes), 'z'] },
    ...Array.from({ length: partsPageMax }, (_, place) => ({ texts: [`late ${place}`] })),
  ]
  const text = await (await answer(stored(parts))).text()
  expect(Bun.hash(text)).toBe(Bun.hash(expected(parts)))
})

test('reading continues after the line of a cursor, at every place of a part', async () => {
  const parts = [{ texts: ['a', 'b', 'c'] }, { texts: ['d', 'e'] }]
  const lines = expected(parts).split('\n')
  for (const [sequence, index, passed] of [
    [1, 0, 1],
    [1, 2, 3],
    [2, 0, 4],
    [2, 1, 5],
  ] as const) {
    const text = await (await answer(stored(parts), { sequence, index })).text()
    expect(text).toBe(lines.slice(passed).join('\n'))
  }
})

test('a part with other lines than it should have breaks the answer off', async () => {
  const response = await answer(
    stored([{ texts: ['x'.repeat(resultsPieceBytes)] }, { texts: ['a'], itemCount: 2 }]),
  )
  const outcome = await response.text().then(
    () => 'whole',
    () => 'broken',
  )
  expect(outcome).toBe('broken')
})

test('a reader who stops is not read ahead of, and a reader who leaves ends the reading', async () => {
  const dependencies = stored(Array.from({ length: 200 }, () => ({ texts: ['x'.repeat(1_000_000)] })))
  const response = await answer(dependencies)
  const reader = response.body?.getReader()
  await reader?.read()
  await Bun.sleep(300)
  const reads = dependencies.reads()
  expect(reads).toBeLessThan(100)
  await reader?.cancel()
  await Bun.sleep(100)
  expect(dependencies.reads()).toBeLessThan(reads + 20)
})
