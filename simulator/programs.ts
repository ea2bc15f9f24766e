import { childOutputBytesMax, childProcessesMax, childQueueMax, childTimeoutMs } from './limits.ts'

/** The speech programs of this machine; null where one is not installed. */
export interface Programs {
  espeak: string | null
  ffmpeg: string | null
  ffprobe: string | null
  sox: string | null
  recogniser: string | null
  /** Further options of the recogniser, such as its vocabulary. */
  recogniserOptions: readonly string[]
  slots: Slots
  /** The recogniser's output for samples it has already heard, by their hash. */
  heard: Map<string, string>
}

/** Looks for the programs on the PATH. */
export function findPrograms(recogniserOptions: readonly string[] = []): Programs {
  return {
    espeak: Bun.which('espeak-ng'),
    ffmpeg: Bun.which('ffmpeg'),
    ffprobe: Bun.which('ffprobe'),
    sox: Bun.which('sox'),
    recogniser: Bun.which('pocketsphinx_continuous'),
    recogniserOptions,
    slots: createSlots(childProcessesMax, childQueueMax),
    heard: new Map(),
  }
}

/** A bounded number of places, with a bounded queue before them. */
export interface Slots {
  /** Waits for a place. False when the queue is full or the caller has left; true obliges to `leave`. */
  enter(signal: AbortSignal): Promise<boolean>
  leave(): void
}

function createSlots(places: number, queueMax: number): Slots {
  let taken = 0
  const queue: (() => void)[] = []

  function leave(): void {
    const next = queue.shift()
    if (next === undefined) taken--
    else next()
  }
  return {
    leave,
    async enter(signal) {
      if (signal.aborted || (taken >= places && queue.length >= queueMax)) return false
      if (taken < places) {
        taken++
        return true
      }
      await new Promise<void>((resolve) => queue.push(resolve))
      if (!signal.aborted) return true
      // The caller that was given this place has left meanwhile, so the place goes to the next one.
      leave()
      return false
    },
  }
}

/** A program that runs, bound to a deadline and to its caller's presence. */
export interface RunningProgram {
  output: ReadableStream<Uint8Array>
  exited: Promise<number>
  kill(): void
}

/** Starts a program with bytes, another program's output, or nothing on its standard input. */
export function startProgram(
  command: string[],
  input: Uint8Array | ReadableStream<Uint8Array> | null,
  signal: AbortSignal,
): RunningProgram {
  const child = Bun.spawn(command, {
    stdin: input ?? 'ignore',
    stdout: 'pipe',
    stderr: 'ignore',
    signal: AbortSignal.any([signal, AbortSignal.timeout(childTimeoutMs)]),
    killSignal: 'SIGKILL',
  })
  return { output: child.stdout, exited: child.exited, kill: () => child.kill('SIGKILL') }
}

/** Runs a program to its end and returns what it printed; null when it failed, printed too much, or was stopped. */
export async function outputOf(command: string[], signal: AbortSignal): Promise<string | null> {
  const program = startProgram(command, null, signal)
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of program.output) {
    bytes += part.length
    if (bytes > childOutputBytesMax) {
      program.kill()
      return null
    }
    parts.push(part)
  }
  return (await program.exited) === 0 ? Buffer.concat(parts).toString() : null
}
