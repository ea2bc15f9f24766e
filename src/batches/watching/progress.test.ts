import { afterEach, describe, expect, test } from 'bun:test'
import { principalOf } from '../../../test/simulation/billing-fixtures.ts'
import { batchOf, create, runToEnd, upload, World } from '../../../test/simulation/batches-world.ts'
import { eachDatabase } from '../../../test/support/databases.ts'
import { organizationShareOf } from '../../core/limits/batches.ts'
import { createBatchRepository } from '../batch-repository.ts'
import { createMoveRepository } from '../lanes/move-repository.ts'
import { createWaitingRepository } from '../running/waiting-repository.ts'
import { ProgressFeed, progressStreamsMax } from './progress-feed.ts'
import { openProgress } from './progress-stream.ts'

const tracked = principalOf({ accountMode: 'tracked', organizationId: 'org_t' })

/** A frame of an event stream. */
interface Frame {
  id: string
  event: string
  data: { status: string; request_counts: { completed: number } }
}

eachDatabase((_name, open) => {
  const worlds: World[] = []
  const feeds: ProgressFeed[] = []
  afterEach(async () => {
    for (const feed of feeds.splice(0)) await feed.stop()
    for (const world of worlds.splice(0)) await world.close()
  })

  /** A batch and a reader of its database beside the process that runs it. */
  async function watched(count: number, lookEveryMs = 100) {
    const world = new World(open)
    worlds.push(world)
    const process = await world.process()
    const { id } = await create(process, upload(batchOf(count)))
    const database = await world.openDatabase()
    const stores = {
      batches: createBatchRepository(database),
      waits: createWaitingRepository(database),
      moves: createMoveRepository(database),
    }
    const feed = new ProgressFeed(stores, lookEveryMs)
    feeds.push(feed)
    const load = async () => {
      const batch = await stores.batches.load(id)
      if (batch === null) throw new Error('no batch')
      return batch
    }
    return { world, process, id, feed, load }
  }

  describe('the progress of a batch', () => {
    test('is shown to its end by a process that does not run it', async () => {
      const { process, world, id, feed, load } = await watched(25)
      const stream = await openProgress(await load(), noWish(), feed)
      const reading = framesOf(stream?.body)
      await runToEnd(process, tracked, id, world)
      const frames = await reading
      expect(frames[0]).toMatchObject({ event: 'status', data: { status: 'validating' } })
      expect(frames.at(-1)).toMatchObject({
        event: 'end',
        data: { status: 'completed', request_counts: { completed: 25 } },
      })
      expect(new Set(frames.map((frame) => frame.id)).size).toBe(frames.length)
      await stream?.ended
      expect(feed.streams).toBe(0)
    })

    test('goes on after the event that the caller names, and not after the end', async () => {
      const { process, world, id, feed, load } = await watched(3)
      const first = await openProgress(await load(), noWish(), feed)
      const seen = await firstFrame(first?.body)
      const wish = { ...noWish(), lastEventId: seen.id }
      const second = await openProgress(await load(), wish, feed)
      const reading = framesOf(second?.body)
      await runToEnd(process, tracked, id, world)
      const frames = await reading
      expect(frames.map((frame) => frame.id)).not.toContain(seen.id)
      const end = frames.at(-1)
      expect(end?.event).toBe('end')
      expect(await openProgress(await load(), { ...noWish(), lastEventId: end?.id ?? '' }, feed)).toBeNull()
    })

    test('of a silent batch is comments, and ends when the caller leaves or time is up', async () => {
      const { feed, load } = await watched(1)
      const leaving = new AbortController()
      const stream = await openProgress(await load(), { lastEventId: null, signal: leaving.signal }, feed, {
        pingEveryMs: 10,
      })
      const text = await textUntil(stream?.body, ': ping\n\n: ping\n\n')
      expect(text).toStartWith('retry: 2000\n\nid: validating.0.0\nevent: status\ndata: {')
      leaving.abort()
      await stream?.ended
      const brief = await openProgress(await load(), noWish(), feed, { streamMsMax: 20 })
      await framesOf(brief?.body)
      await brief?.ended
      expect(feed.streams).toBe(0)
    })

    test('ends with the process, and with a batch that is deleted', async () => {
      const { feed, load, process, world, id } = await watched(1, 3_600_000)
      const stream = await openProgress(await load(), noWish(), feed)
      const before = await load()
      await runToEnd(process, tracked, id, world)
      await process.batches.delete(tracked, id)
      const reading = framesOf(stream?.body)
      await feed.look()
      expect((await reading).length).toBeLessThanOrEqual(1)
      const other = await openProgress(before, noWish(), feed)
      const stopped = framesOf(other?.body)
      await feed.stop()
      await stopped
      expect(feed.streams).toBe(0)
    })

    test('is refused beyond the places: the own share first, then the process’s', async () => {
      const { feed, load } = await watched(1, 3_600_000)
      const batch = await load()
      const known = await feed.read(batch)
      const share = organizationShareOf(progressStreamsMax)
      for (let taken = 0; taken < share; taken += 1) feed.watch(batch, known)
      expect(() => feed.watch(batch, known)).toThrow(expect.objectContaining({ type: 'rate_limit_exceeded' }))
      const other = { ...batch, organizationId: 'org_other' }
      const watches = Array.from({ length: progressStreamsMax - share }, () => feed.watch(other, known))
      expect(() => feed.watch(other, known)).toThrow(expect.objectContaining({ type: 'batch_unavailable' }))
      watches[0]?.leave()
      feed.watch(other, known)
      expect(feed.streams).toBe(progressStreamsMax)
    })
  })
})

const noWish = () => ({ lastEventId: null, signal: new AbortController().signal })

async function textOf(body: ReadableStream<Uint8Array> | undefined): Promise<string> {
  return new Response(body).text()
}

async function framesOf(body: ReadableStream<Uint8Array> | undefined): Promise<Frame[]> {
  return parse(await textOf(body))
}

function parse(text: string): Frame[] {
  return text.split('\n\n').flatMap((frame) => {
    const [id, event, data] = ['id', 'event', 'data'].map(
      (name) => new RegExp(`^${name}: (.*)$`, 'm').exec(frame)?.[1],
    )
    return data === undefined
      ? []
      : [{ id: id ?? '', event: event ?? '', data: JSON.parse(data) as Frame['data'] }]
  })
}

async function textUntil(body: ReadableStream<Uint8Array> | undefined, wanted: string): Promise<string> {
  let text = ''
  for await (const chunk of body ?? []) {
    text += new TextDecoder().decode(chunk)
    if (text.includes(wanted)) break
  }
  return text
}

async function firstFrame(body: ReadableStream<Uint8Array> | undefined): Promise<Frame> {
  const [frame] = parse(await textUntil(body, 'data: '))
  if (frame === undefined) throw new Error('no frame')
  return frame
}
