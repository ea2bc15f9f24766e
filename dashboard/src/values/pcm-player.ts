import { SampleReader } from './pcm.ts'

/** So much sound is scheduled before the first piece begins, so that a late second piece leaves no gap. */
const leadSeconds = 0.04

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
  #startedAt: number | null = null

  constructor(context: AudioContext, rate: number) {
    this.#context = context
    this.#rate = rate
  }

  /** Schedules a piece; the time in milliseconds from now until it sounds. */
  add(bytes: Uint8Array): { samples: Float32Array; soundsInMs: number } {
    const samples = this.#reader.read(bytes)
    const now = this.#context.currentTime
    if (samples.length === 0) return { samples, soundsInMs: Math.max(0, this.#endsAt - now) * 1000 }
    const buffer = this.#context.createBuffer(1, samples.length, this.#rate)
    buffer.copyToChannel(samples, 0)
    const source = this.#context.createBufferSource()
    source.buffer = buffer
    source.connect(this.#context.destination)
    const at = Math.max(this.#endsAt, now + leadSeconds)
    source.start(at)
    this.#startedAt ??= at
    this.#endsAt = at + buffer.duration
    this.#sources.add(source)
    source.onended = () => this.#sources.delete(source)
    return { samples, soundsInMs: (at - now) * 1000 }
  }

  /** Seconds that have been heard. */
  get position(): number {
    if (this.#startedAt === null) return 0
    return Math.max(0, Math.min(this.#context.currentTime, this.#endsAt) - this.#startedAt)
  }

  get duration(): number {
    return this.#startedAt === null ? 0 : this.#endsAt - this.#startedAt
  }

  get isSounding(): boolean {
    return this.#sources.size > 0 && this.#context.currentTime < this.#endsAt
  }

  stop(): void {
    for (const source of this.#sources) source.stop()
    this.#sources.clear()
    this.#endsAt = Math.min(this.#endsAt, this.#context.currentTime)
  }
}
