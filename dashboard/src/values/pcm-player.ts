import { SampleReader } from './pcm.ts'

/** So much sound is scheduled before the first piece begins, so that a late second piece leaves no gap. */
const leadSeconds = 0.04
/** How often a silent player looks whether it still is one, at most. */
const silenceCheckMs = 50

/**
 * Plays samples while they arrive, by buffers that follow each other on the clock of the sound card. Media sources would
 * need a container and break on long answers.
 */
export class PcmPlayer {
  readonly #context: AudioContext
  readonly #rate: number
  readonly #reader = new SampleReader()
  readonly #sources = new Set<AudioBufferSourceNode>()
  #endsAt = 0

  constructor(context: AudioContext, rate: number) {
    this.#context = context
    this.#rate = rate
  }

  /** Schedules a piece; the time in milliseconds from now until it is heard. */
  add(bytes: Uint8Array): { samples: Float32Array; soundsInMs: number } {
    const samples = this.#reader.read(bytes)
    const { currentTime: now, outputLatency, baseLatency } = this.#context
    // The first is what the device adds, where the browser knows it.
    const latency = outputLatency || baseLatency || 0
    const at = Math.max(this.#endsAt, now + leadSeconds)
    if (samples.length > 0) this.#schedule(samples, at)
    return { samples, soundsInMs: (at - now + latency) * 1000 }
  }

  #schedule(samples: Float32Array<ArrayBuffer>, at: number): void {
    const buffer = this.#context.createBuffer(1, samples.length, this.#rate)
    buffer.copyToChannel(samples, 0)
    const source = this.#context.createBufferSource()
    source.buffer = buffer
    source.connect(this.#context.destination)
    source.start(at)
    this.#endsAt = at + buffer.duration
    this.#sources.add(source)
    source.onended = () => this.#sources.delete(source)
  }

  /** Resolves when all that was added was heard, or was stopped. */
  async untilSilent(): Promise<void> {
    for (;;) {
      const leftMs = (this.#endsAt - this.#context.currentTime) * 1000
      if (leftMs <= 0 || this.#context.state === 'closed') return
      await new Promise((resolve) => setTimeout(resolve, Math.min(leftMs + 1, silenceCheckMs)))
    }
  }

  stop(): void {
    for (const source of this.#sources) source.stop()
    this.#sources.clear()
    this.#endsAt = Math.min(this.#endsAt, this.#context.currentTime)
  }
}
