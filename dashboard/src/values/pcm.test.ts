import { describe, expect, test } from 'bun:test'
import { peaksOf, rateOf, SampleReader, wavFile } from './pcm.ts'

describe('samples', () => {
  test('a sample that two pieces share is read once it is whole', () => {
    const bytes = new Uint8Array([0x00, 0x40, 0x00, 0xc0, 0xff, 0x7f])
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      const reader = new SampleReader()
      const samples = [...reader.read(bytes.subarray(0, cut)), ...reader.read(bytes.subarray(cut))]
      expect(samples).toEqual([0.5, -0.5, Math.fround(32_767 / 32_768)])
    }
  })

  test('a WAV file has its length and rate in its header', async () => {
    const file = wavFile([new Uint8Array([1, 2]), new Uint8Array([3, 4])], 24_000)
    const view = new DataView(await file.arrayBuffer())
    expect(view.byteLength).toBe(48)
    expect(view.getUint32(4, true)).toBe(40)
    expect(view.getUint32(24, true)).toBe(24_000)
    expect(view.getUint32(40, true)).toBe(4)
    expect(view.getUint8(47)).toBe(4)
  })

  test('the content type names the rate', () => {
    expect([rateOf('audio/pcm;rate=48000;channels=1'), rateOf('audio/pcm'), rateOf(null)]).toEqual([
      48_000, 24_000, 24_000,
    ])
    expect(peaksOf(new Float32Array([0.1, -0.5, 0.25, 0]), 2)).toEqual([0.5, 0.25])
  })
})
