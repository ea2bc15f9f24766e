import type { Page } from 'playwright-core'

/** What the ear of a page has heard of an answer with samples, in milliseconds of the page's clock. */
interface Heard {
  /** When the first byte was read. */
  firstByteAt: number | null
  /** How long the answer's own samples are silent at their beginning. */
  silentMs: number | null
  /** When the page asked for the first piece to be played, and how long before its time. */
  askedAt: number | null
  aheadMs: number | null
  /** When the first sample that is not silent left the graph of the browser. */
  soundAt: number | null
}

/** Waits until an answer was heard. */
export async function heardAfter(
  page: Page,
): Promise<{ soundMs: number; silentMs: number; askedMs: number; aheadMs: number }> {
  await page.waitForFunction(() => {
    const { heard } = window as unknown as { heard: Heard }
    return heard.soundAt !== null && heard.silentMs !== null
  })
  return page.evaluate(() => {
    const { heard } = window as unknown as { heard: Heard }
    return {
      soundMs: (heard.soundAt ?? Infinity) - (heard.firstByteAt ?? 0),
      silentMs: heard.silentMs ?? 0,
      askedMs: (heard.askedAt ?? Infinity) - (heard.firstByteAt ?? 0),
      aheadMs: heard.aheadMs ?? 0,
    }
  })
}

/**
 * Runs in the page before its own script. Whatever is connected to the sound card is also connected to an analyser that
 * keeps the last two thirds of a second, so that the moment of a sound is known although it is looked for now and then.
 */
export function listenToSpeech(): void {
  const rate = 24_000
  const loud = 0.002
  const heard: Heard = { firstByteAt: null, silentMs: null, askedAt: null, aheadMs: null, soundAt: null }
  ;(window as unknown as { heard: Heard }).heard = heard
  let body: ReadableStream | null = null
  const readers = new WeakSet<object>()
  const ownFetch = window.fetch.bind(window)
  window.fetch = (async (...given: Parameters<typeof fetch>) => {
    const response = await ownFetch(...given)
    if (String(given[0]).endsWith('/audio/speech')) body ??= response.body
    return response
  }) as typeof fetch
  const prototype = ReadableStream.prototype as unknown as { getReader: (...given: unknown[]) => object }
  const { getReader } = prototype
  prototype.getReader = function (this: ReadableStream, ...given) {
    const reader = getReader.apply(this, given)
    if (this === body) readers.add(reader)
    return reader
  }
  let samplesCount = 0
  const take = (bytes: Uint8Array) => {
    heard.firstByteAt ??= performance.now()
    if (heard.silentMs !== null) return
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    for (let at = 0; at + 1 < bytes.length; at += 2, samplesCount += 1)
      if (Math.abs(view.getInt16(at, true)) / 32_768 > loud) {
        heard.silentMs = (samplesCount / rate) * 1000
        return
      }
  }
  const { read } = ReadableStreamDefaultReader.prototype
  ReadableStreamDefaultReader.prototype.read = async function (this: ReadableStreamDefaultReader) {
    const result = await read.call(this)
    if (readers.has(this) && result.value !== undefined) take(result.value as Uint8Array)
    return result
  } as typeof read
  const ears = new WeakMap<BaseAudioContext, AnalyserNode>()
  const earOf = (context: BaseAudioContext) => {
    const known = ears.get(context)
    if (known !== undefined) return known
    const ear = context.createAnalyser()
    ear.fftSize = 32_768
    ears.set(context, ear)
    const samples = new Float32Array(ear.fftSize)
    const timer = setInterval(() => {
      ear.getFloatTimeDomainData(samples)
      const index = samples.findIndex((sample) => Math.abs(sample) > loud)
      if (index < 0) return
      const agoMs = ((samples.length - index) / context.sampleRate) * 1000
      const latencyMs = ((context as AudioContext).outputLatency || 0) * 1000
      heard.soundAt ??= performance.now() - agoMs + latencyMs
      clearInterval(timer)
    }, 10)
    return ear
  }
  const { start } = AudioBufferSourceNode.prototype
  AudioBufferSourceNode.prototype.start = function (this: AudioBufferSourceNode, when = 0, ...rest) {
    heard.askedAt ??= performance.now()
    heard.aheadMs ??= (when - this.context.currentTime) * 1000
    start.call(this, when, ...rest)
  }
  const connect = AudioNode.prototype.connect as (this: AudioNode, ...given: unknown[]) => AudioNode
  AudioNode.prototype.connect = function (this: AudioNode, ...given: unknown[]) {
    if (given[0] instanceof AudioDestinationNode) connect.call(this, earOf(this.context))
    return connect.apply(this, given)
  }
}
