import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { wavHeader, type SpeechOutput, type SpeechReader } from '../canonical/audio.ts'
import { KeepBackStream } from './keep-back.ts'
import type { Mp3Codec } from './mp3-codec.ts'
import { Resampler } from './resampler.ts'
import { SampleReader, toS16 } from './samples.ts'
import { createSpeechStream, speechContentType } from './speech-stream.ts'

const contractPcm: SpeechOutput = { container: 'pcm', encoding: 's16le', rate: 24_000, channels: 1 }

/** A body that is the sound itself. */
function raw(output: SpeechOutput): SpeechReader {
  return { push: (piece) => piece, end: () => new Uint8Array(0), output, billed: null }
}

/** A codec for streams that need no conversion. */
const noCodec: Mp3Codec = {
  open: () => {
    throw new Error('nothing is to be converted')
  },
  close: () => undefined,
}

/** A stream that converts nothing, so that it answers at once. */
function plainStream(responseFormat: 'mp3' | 'pcm', output: SpeechOutput) {
  const stream = createSpeechStream({ responseFormat }, raw(output), noCodec)
  return {
    push: (piece: Uint8Array) => stream.push(piece) as Uint8Array | null,
    end: () => stream.end() as Uint8Array,
    get hasDelivered() {
      return stream.hasDelivered
    },
  }
}

/** Everything a caller gets from these chunks. */
function pass(format: 'mp3' | 'pcm', output: SpeechOutput, chunks: readonly Uint8Array[]): Buffer {
  const stream = plainStream(format, output)
  const shown = chunks.map((chunk) => stream.push(chunk)).filter((bytes) => bytes !== null)
  return Buffer.concat([...shown, stream.end()])
}

function cut(bytes: Uint8Array, size: number): Uint8Array[] {
  const chunks: Uint8Array[] = []
  for (let offset = 0; offset < bytes.length; offset += size)
    chunks.push(bytes.subarray(offset, offset + size))
  return chunks
}

/** A tone of full seconds at any rate; float, from -0.5 to 0.5. */
function tone(rate: number, seconds: number, hertz: number): Float32Array {
  return Float32Array.from(
    { length: rate * seconds },
    (_, index) => 0.5 * Math.sin((2 * Math.PI * hertz * index) / rate),
  )
}

function samplesOf(bytes: Buffer): Float32Array {
  return new SampleReader({ encoding: 's16le', rate: 24_000, channels: 1 }).push(bytes)
}

/** Root of the mean square, without the edges. */
function level(samples: Float32Array): number {
  const inner = samples.subarray(500, samples.length - 500)
  return Math.sqrt(inner.reduce((sum, sample) => sum + sample * sample, 0) / inner.length)
}

/** One silent MPEG 1 layer III frame at 128 kbit/s and 44,100 Hz: 417 bytes. */
const frame = Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0x00]), Buffer.alloc(413)])

describe('a speech stream', () => {
  test('passes the contract’s samples and MPEG frames unchanged, however they are cut', () => {
    const pcm = toS16(tone(24_000, 1, 440).subarray(0, 4_000))
    const mp3 = Buffer.concat([frame, frame, frame, frame])
    for (const size of [1, 7, 4096]) {
      expect(pass('pcm', contractPcm, cut(pcm, size)).equals(pcm)).toBe(true)
      expect(pass('mp3', { container: 'mpeg' }, cut(mp3, size)).equals(mp3)).toBe(true)
    }
  })

  test('of samples never ends within a sample, however it is cut and whatever bytes come first', () => {
    const pcm = toS16(tone(24_000, 1, 440).subarray(0, 4_000))
    const odd = Buffer.concat([pcm, Buffer.from([7])])
    for (const size of [1, 7, 4096, 100_000]) {
      expect(pass('pcm', contractPcm, cut(odd, size)).equals(pcm)).toBe(true)
      const wav = Buffer.concat([wavHeader(odd.length, 24_000), odd])
      expect(pass('pcm', contractPcm, cut(wav, size)).equals(pcm)).toBe(true)
      const stream = plainStream('pcm', contractPcm)
      for (const chunk of cut(odd, size)) expect((stream.push(chunk)?.length ?? 0) % 2).toBe(0)
    }
  })

  test('shows everything but the last bytes as it arrives', () => {
    const stream = plainStream('pcm', contractPcm)
    expect(stream.push(new Uint8Array(1_000))).toBeNull()
    expect(stream.push(new Uint8Array(5_000))?.length).toBe(6_000 - 1_024)
    expect(stream.end().length).toBe(1_024)
  })

  test('has delivered nothing until a whole frame or sample was shown', () => {
    const pcm = plainStream('pcm', contractPcm)
    pcm.push(new Uint8Array(1_025))
    expect(pcm.hasDelivered).toBe(false)
    pcm.push(new Uint8Array(1))
    expect(pcm.hasDelivered).toBe(true)
    const mp3 = plainStream('mp3', { container: 'mpeg' })
    // At most one frame waits for the capture; a provider that sends sound in real time would otherwise be late.
    expect(mp3.push(Buffer.concat([frame, Buffer.alloc(416)]))?.length).toBe(416)
    expect(mp3.hasDelivered).toBe(false)
    mp3.push(new Uint8Array(1))
    expect(mp3.hasDelivered).toBe(true)
  })

  test('finds the first frame behind a long tag', () => {
    const tag = Buffer.concat([
      Buffer.from('ID3\x04\0\0\0\0\x27\x10', 'latin1'),
      Buffer.alloc(0x27 * 128 + 0x10),
    ])
    for (const size of [3, 1000, 100_000]) {
      const mp3 = plainStream('mp3', { container: 'mpeg' })
      for (const chunk of cut(Buffer.concat([tag, frame, Buffer.alloc(1_023)]), size)) mp3.push(chunk)
      expect(mp3.hasDelivered).toBe(false)
      mp3.push(new Uint8Array(1))
      expect(mp3.hasDelivered).toBe(true)
    }
  })

  test.each([
    ['nothing', ''],
    ['half a sample', '\0'],
    ['an error in JSON', '{"error":{"message":"quota"}}'],
    ['a page', '<!DOCTYPE html><html></html>'],
    ['JSON with text', `  {"message":"${'é'.repeat(100)}"}`],
    ['JSON behind a byte order mark', '\ufeff{"error":{"message":"quota"}}'],
    ['plain text', 'upstream connect error, try again'],
    ['events', 'event: speech.audio.delta\ndata: {"audio":"AAAA"}\n\n'.repeat(100)],
  ])('refuses %s instead of samples', (_, text) => {
    const bytes = Buffer.from(text)
    expect(() => pass('pcm', contractPcm, cut(bytes, 5))).toThrow(/without audio/)
    expect(() => pass('mp3', { container: 'mpeg' }, cut(bytes, 5))).toThrow(/without audio/)
  })

  test('refuses another container instead of samples, however it is cut', () => {
    const flac = Buffer.concat([Buffer.from('fLaC\0\0\0\x22'), Buffer.alloc(3_000, 7)])
    for (const size of [1, 500, 10_000])
      expect(() => pass('pcm', contractPcm, cut(flac, size))).toThrow(/without audio/)
    // Four bytes of sound may by chance look like one header.
    const samples = Buffer.concat([frame.subarray(0, 4), toS16(tone(24_000, 1, 440).subarray(0, 4_000))])
    expect(pass('pcm', contractPcm, [samples]).equals(samples)).toBe(true)
  })

  test('recognises mp3 even when samples were asked for', () => {
    const tag = Buffer.concat([Buffer.from('ID3\x04\0\0\0\0\0\x0a', 'latin1'), Buffer.alloc(10)])
    const mp3 = Buffer.concat([frame, frame, frame])
    for (const bytes of [Buffer.concat([tag, mp3]), mp3]) {
      expect(() => pass('pcm', contractPcm, [bytes])).toThrow('nothing is to be converted')
      expect(pass('mp3', contractPcm, [bytes]).equals(bytes)).toBe(true)
    }
  })

  test('shows no byte of an answer without a frame, so that another endpoint can be asked', () => {
    const samples = Buffer.from(toS16(tone(24_000, 2, 440)))
    const mp3 = plainStream('mp3', { container: 'mpeg' })
    expect(mp3.push(samples.subarray(0, 40_000))).toBeNull()
    expect(() => mp3.push(samples.subarray(40_000))).toThrow(/without audio/)
  })

  test('refuses another container, and frames that never come whole', () => {
    const wav = Buffer.concat([wavHeader(100, 24_000), Buffer.alloc(100)])
    expect(() => pass('mp3', { container: 'mpeg' }, [wav])).toThrow(/without audio/)
    expect(() => pass('mp3', { container: 'mpeg' }, [frame.subarray(0, 416)])).toThrow(/without audio/)
    expect(() => pass('pcm', { container: 'wav' }, [Buffer.from('OggS\0\0 and so on')])).toThrow(
      /cannot be read/,
    )
  })

  test('removes the header of a WAV answer, even one with an unknown length and further chunks', () => {
    const pcm = Buffer.from(toS16(tone(24_000, 1, 440).subarray(0, 4_000)))
    const header = Buffer.from(wavHeader(0, 24_000))
    const list = Buffer.from('LIST\x05\0\0\0abcde\0', 'latin1')
    const streamed = Buffer.concat([header.subarray(0, 36), list, header.subarray(36), pcm])
    const exact = Buffer.concat([wavHeader(pcm.length, 24_000), pcm, list])
    for (const size of [1, 50, 10_000]) {
      expect(pass('pcm', { container: 'wav' }, cut(streamed, size)).equals(pcm)).toBe(true)
      expect(pass('pcm', { container: 'wav' }, cut(exact, size)).equals(pcm)).toBe(true)
      // A server may declare such a WAV answer as pcm.
      expect(pass('pcm', contractPcm, cut(exact, size)).equals(pcm)).toBe(true)
    }
  })

  test('brings other rates, channels and encodings to 24,000 Hz mono', () => {
    for (const rate of [8_000, 16_000, 22_050, 44_100, 48_000]) {
      const wav = Buffer.concat([wavHeader(rate * 4, rate), toS16(tone(rate, 2, 440))])
      const out = samplesOf(pass('pcm', { container: 'wav' }, cut(wav, 999)))
      expect(out.length).toBe(48_000)
      expect(level(out)).toBeCloseTo(0.5 / Math.SQRT2, 2)
    }
    const mono = tone(24_000, 1, 440)
    const stereo = Float32Array.from({ length: 48_000 }, (_, index) => mono[index >> 1] ?? 0)
    const output: SpeechOutput = { container: 'pcm', encoding: 'f32le', rate: 24_000, channels: 2 }
    expect(pass('pcm', output, cut(new Uint8Array(stereo.buffer), 13)).equals(toS16(mono))).toBe(true)
  })

  test('states the media type that it sends', () => {
    expect(speechContentType({ responseFormat: 'pcm', isWav: false })).toBe('audio/pcm;rate=24000;channels=1')
    expect(speechContentType({ responseFormat: 'mp3', isWav: false })).toBe('audio/mpeg')
    expect(speechContentType({ responseFormat: 'pcm', isWav: true })).toBe('audio/wav')
  })
})

describe('the resampler', () => {
  test('keeps a tone and removes frequencies that the new rate cannot represent', () => {
    const down = (hertz: number) => {
      const resampler = new Resampler(48_000, 24_000)
      return level(Float32Array.from([...resampler.push(tone(48_000, 1, hertz)), ...resampler.end()]))
    }
    expect(down(1_000)).toBeCloseTo(0.3536, 3)
    expect(down(16_000)).toBeLessThan(0.001)
  })

  test('gives the same samples however the input is cut', () => {
    const input = tone(44_100, 1, 300).subarray(0, 3_000)
    const whole = new Resampler(44_100, 24_000)
    const expected = [...whole.push(input), ...whole.end()]
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 10 }), (sizes) => {
        const resampler = new Resampler(44_100, 24_000)
        const output: number[] = []
        for (let offset = 0, turn = 0; offset < input.length; turn++) {
          const end = offset + (sizes[turn % sizes.length] ?? 1)
          output.push(...resampler.push(input.subarray(offset, end)))
          offset = end
        }
        output.push(...resampler.end())
        expect(output).toEqual(expected)
      }),
      { numRuns: 20 },
    )
    expect(expected.length).toBe(Math.round((3_000 * 24_000) / 44_100))
  })
})

test('the end of the stream is kept back, whatever the chunks', () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 30 })),
      fc.integer({ min: 1, max: 40 }),
      (chunks, kept) => {
        const stream = new KeepBackStream(kept)
        const shown = Buffer.concat(chunks.map((chunk) => stream.push(chunk) ?? new Uint8Array(0)))
        const tail = stream.end()
        const all = Buffer.concat(chunks)
        expect(Buffer.concat([shown, tail]).equals(all)).toBe(true)
        expect(tail.length).toBe(Math.min(kept, all.length))
      },
    ),
  )
})
