import { type AudioJobs, createAudioJobs } from './audio/jobs.ts'
import { type Counters, createCounters } from './counters.ts'
import { createFaultRules, type FaultRules } from './fault-rules.ts'
import { createKeptFiles, type KeptFiles } from './gemini/kept-files.ts'
import { mountsMax, recordedBodyBytes, usualJobLooks } from './limits.ts'
import { createThreads, type Threads } from './messages/threads.ts'
import { createKeptMessageBatches, type KeptMessageBatches } from './message-batches/kept-message-batches.ts'
import type { MountSettings } from './mount-settings.ts'
import { createKeptBatches, type KeptBatches } from './openai-batches/kept-batches.ts'
import { createPromptCache, type PromptCache } from './prompt-cache.ts'
import { createStoredResponses, type StoredResponses } from './responses/stored.ts'
import { usualSealer } from './seals.ts'
import { createScripts, type Scripts } from './scripts.ts'

/** One simulated provider: its own counters, faults, scripts and settings. */
export interface Mount {
  name: string
  seed: number
  counters: Counters
  rules: FaultRules
  scripts: Scripts
  promptCache: PromptCache
  threads: Threads
  responses: StoredResponses
  audioJobs: AudioJobs
  googleFiles: KeptFiles
  batches: KeptBatches
  messageBatches: KeptMessageBatches
  settings: MountSettings
}

/** All simulated providers of one process. */
export interface Mounts {
  /** The mount of that name, created when it is new; undefined when there are too many. */
  get(name: string): Mount | undefined
  all(): Mount[]
  /** Forgets everything of one mount. */
  remove(name: string): void
  /** Forgets everything of all mounts. */
  clear(): void
}

/** The name of the mount that is served under `/v1`. */
export const defaultMount = 'default'

/** Creates the mounts of one simulator. The seed is mixed with each name, so that providers do not fail in step. */
export function createMounts(seed: number): Mounts {
  const mounts = new Map<string, Mount>()
  return {
    get(name) {
      const known = mounts.get(name)
      if (known !== undefined || mounts.size >= mountsMax) return known
      const mount = createMount(name, Bun.hash.xxHash32(name, seed))
      mounts.set(name, mount)
      return mount
    },
    all: () => [...mounts.values()],
    remove: (name) => void mounts.delete(name),
    clear: () => mounts.clear(),
  }
}

function createMount(name: string, seed: number): Mount {
  return {
    name,
    seed,
    counters: createCounters(),
    rules: createFaultRules(seed),
    scripts: createScripts(),
    promptCache: createPromptCache(),
    threads: createThreads(),
    responses: createStoredResponses(),
    audioJobs: createAudioJobs(),
    googleFiles: createKeptFiles(),
    batches: createKeptBatches(),
    messageBatches: createKeptMessageBatches(),
    settings: {
      strict: true,
      anyModel: false,
      sealer: usualSealer,
      transcription: 'auto',
      speech: 'auto',
      uploadBytesMax: null,
      jobLooks: usualJobLooks,
      batchService: 'openai',
      flexRefused: 0,
      recordedBodyBytes,
    },
  }
}
