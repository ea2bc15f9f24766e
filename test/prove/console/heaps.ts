import type { CDPSession, Page } from 'playwright-core'

/** How often the heaps are measured while they are watched. */
const everyMs = 250

/** Watches the heaps of a page and of its workers. */
export interface HeapWatch {
  /** What all of them had in use at once at most, garbage included, beyond what the page had at the beginning; in bytes. */
  end(): Promise<{ grownBytes: number; workers: number }>
}

interface Usage {
  usedSize: number
  backingStorageSize?: number
}

/** Begins to watch, after a collection of garbage. */
export async function watchHeaps(page: Page): Promise<HeapWatch> {
  const session = await page.context().newCDPSession(page)
  const workers = await watchWorkers(session)
  await session.send('HeapProfiler.collectGarbage')
  const ofPage = async () => bytesOf(await session.send('Runtime.getHeapUsage'))
  const before = await ofPage()
  let most = before
  const over = new AbortController()
  const measure = async () => {
    const all = await Promise.all([ofPage(), ...workers.usages()])
    most = Math.max(
      most,
      all.reduce((sum, bytes) => sum + bytes, 0),
    )
  }
  const watching = (async () => {
    while (!over.signal.aborted) {
      await measure()
      await Bun.sleep(everyMs)
    }
  })()
  return {
    async end() {
      over.abort()
      await watching
      await session.detach()
      return { grownBytes: most - before, workers: workers.seen() }
    },
  }
}

function bytesOf({ usedSize, backingStorageSize = 0 }: Usage): number {
  return usedSize + backingStorageSize
}

/** Workers have sessions of their own inside of the page's. */
async function watchWorkers(
  session: CDPSession,
): Promise<{ usages: () => Promise<number>[]; seen: () => number }> {
  const open = new Set<string>()
  const waiting = new Map<number, (bytes: number) => void>()
  let nextId = 1
  let seen = 0
  session.on('Target.attachedToTarget', ({ sessionId, targetInfo }) => {
    if (targetInfo.type !== 'worker') return
    seen += 1
    open.add(sessionId)
  })
  session.on('Target.detachedFromTarget', ({ sessionId }) => {
    open.delete(sessionId)
    // A worker that has ended answers no more.
    for (const answer of waiting.values()) answer(0)
    waiting.clear()
  })
  session.on('Target.receivedMessageFromTarget', ({ message }) => {
    const { id, result } = JSON.parse(message) as { id?: number; result?: Usage }
    if (id === undefined) return
    waiting.get(id)?.(result === undefined ? 0 : bytesOf(result))
    waiting.delete(id)
  })
  await session.send('Target.setAutoAttach', {
    autoAttach: true,
    waitForDebuggerOnStart: false,
    flatten: false,
  })
  const usageOf = async (sessionId: string) => {
    const id = nextId
    nextId += 1
    const answered = new Promise<number>((resolve) => void waiting.set(id, resolve))
    const message = JSON.stringify({ id, method: 'Runtime.getHeapUsage' })
    await session.send('Target.sendMessageToTarget', { sessionId, message }).catch(() => {
      waiting.get(id)?.(0)
      waiting.delete(id)
    })
    return answered
  }
  return { usages: () => [...open].map((sessionId) => usageOf(sessionId)), seen: () => seen }
}
