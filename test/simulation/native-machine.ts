import { FolderBlobStore } from '../../src/storage/blobs/folder-blob-store.ts'
import type { BlobStore } from '../../src/storage/blobs/blob-store.ts'
import type { Database } from '../../src/storage/database.ts'
import { GatewayError } from '../../src/core/errors.ts'
import type { BatchCommitPoint } from '../../src/batches/batch-commit-points.ts'
import type { ResolveBatch } from '../../src/batches/item-contract.ts'
import type { World } from './batches-world.ts'
import type { Behave, Process } from './batches-world.ts'
import { jobItemsOf, type SimulatedService } from './native-jobs.ts'

/** How long a dead process may take to stop. */
const buryMs = 10_000
/** How often a step is tried on a machine that dies again and again. */
const triesMax = 10
let mounts = 0

/** What a machine runs, and when it loses its power. */
export interface MachineOptions {
  /** Of the simulator. */
  url: string
  service: SimulatedService
  resolveBatch: ResolveBatch
  behave?: Behave
  /** Asked at every visit of a point by a process that lives. */
  dies(point: BatchCommitPoint, when: 'before' | 'after'): boolean
}

/** A machine that may lose its power at commit points, and is started again. */
export class Machine {
  readonly world: World
  readonly service: SimulatedService
  readonly mount = `native${mounts++}`
  readonly reached = new Set<string>()
  readonly #options: MachineOptions
  #process: Process | null = null
  #alive = { value: true, ended: Promise.withResolvers<void>() }
  readonly #dead: Promise<unknown>[] = []
  isConfigured = true
  deaths = 0

  constructor(world: World, options: MachineOptions) {
    this.world = world
    this.service = options.service
    this.#options = options
  }

  get process(): Process {
    if (this.#process === null) throw new Error('the machine is off')
    return this.#process
  }

  async boot(): Promise<void> {
    const alive = { value: true, ended: Promise.withResolvers<void>() }
    this.#alive = alive
    const { url, service, resolveBatch, behave, dies } = this.#options
    this.#process = await this.world.process({
      blobs: fragile(
        new FolderBlobStore('/blobs', { files: this.world.files, clock: this.world.clock }),
        alive,
      ),
      wrapDatabase: (database) => fragile(database, alive),
      jobItems: (process) =>
        jobItemsOf(`${url}/p/${this.mount}`, process, {
          service,
          isAlive: () => alive.value,
          isConfigured: () => this.isConfigured,
        }),
      resolveBatch,
      ...(behave && { behave }),
      crash: (point, when) => {
        this.reached.add(point)
        if (!alive.value) throw new Error('the machine is off')
        if (!dies(point, when)) return
        alive.value = false
        alive.ended.resolve()
        this.deaths++
        this.world.files.crash()
        throw new Error('the power is cut')
      },
    })
  }

  /** Does something until it succeeds on a machine that stays alive. */
  async persist<T>(step: (process: Process) => Promise<T>): Promise<T> {
    for (let attempt = 0; attempt < triesMax; attempt++) {
      const { process } = this
      try {
        const stepping = step(process)
        const isOver = await Promise.race([stepping.then(() => true), this.#alive.ended.promise])
        if (isOver && this.#alive.value) return await stepping
        void stepping.catch(() => undefined)
      } catch (thrown) {
        if (this.#alive.value) throw thrown
      }
      this.#dead.push(process.batches.stop().catch(() => undefined))
      await process.database.close()
      await this.boot()
      await this.process.billing.rounds.reap()
    }
    throw new Error('the machine dies again and again')
  }

  /** Resolves when every dead process has stopped, though no storage answers it. */
  async buried(): Promise<void> {
    const late = Bun.sleep(buryMs).then(() => Promise.reject(new Error('a dead process does not stop')))
    await Promise.race([Promise.all(this.#dead), late])
  }
}

function fragile<T extends Database | BlobStore>(target: T, alive: { value: boolean }): T {
  return new Proxy(target, {
    get(object, name) {
      const member: unknown = Reflect.get(object, name, object)
      if (typeof member !== 'function') return member
      return (...args: unknown[]): unknown => {
        if (!alive.value && name !== 'close') {
          if (name === 'notify' || name === 'listen') return () => undefined
          return Promise.reject(new GatewayError('storage_unavailable', 'the machine is off'))
        }
        return Reflect.apply(member, object, args)
      }
    },
  })
}

/** Asks the simulator's own interface. */
export async function admin(url: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
  const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
  return (await (await fetch(`${url}/admin/${path}`, init)).json()) as Record<string, unknown>
}

/** What the simulator counted of this machine's jobs. */
export async function countsOf(url: string, { mount, service }: Machine): Promise<Record<string, number>> {
  const counters = await admin(url, `counters?mount=${mount}&requests=0`)
  return counters[service.counters] as Record<string, number>
}

/** A rule that is written for OpenAI, for the same request to another service. */
export function ruleAt({ createPath }: SimulatedService, rule: object): object {
  return JSON.parse(JSON.stringify(rule).replaceAll('"/v1/batches"', JSON.stringify(createPath))) as object
}
