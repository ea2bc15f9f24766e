// What the audio programs share: a second of a tone, what the provider hears in it, and how what is spoken is looked at.
import { assert } from './play.mjs'

export const heard = 'Good morning to you.'
export const spoken = 'Water turns the wheel.'
export const listener = 'openai/whisper-1'
export const voice = 'openai/tts-1'

/** A WAV file of 16-bit mono samples at 16,000 Hz. */
export function toneWav(seconds = 2) {
  const samples = seconds * 16_000
  const bytes = Buffer.alloc(44 + samples * 2)
  bytes.write('RIFF', 0)
  bytes.writeUInt32LE(bytes.length - 8, 4)
  bytes.write('WAVEfmt ', 8)
  bytes.writeUInt32LE(16, 16)
  bytes.writeUInt16LE(1, 20)
  bytes.writeUInt16LE(1, 22)
  bytes.writeUInt32LE(16_000, 24)
  bytes.writeUInt32LE(32_000, 28)
  bytes.writeUInt16LE(2, 32)
  bytes.writeUInt16LE(16, 34)
  bytes.write('data', 36)
  bytes.writeUInt32LE(samples * 2, 40)
  for (let at = 0; at < samples; at += 1)
    bytes.writeInt16LE(Math.round(8000 * Math.sin((at * 440 * 2 * Math.PI) / 16_000)), 44 + at * 2)
  return bytes
}

export const notSound = Buffer.from('Minutes of the meeting: the gate is to be opened.')

export function isMp3(bytes) {
  const isTag = bytes[0] === 0x49 && bytes[1] === 0x44 && bytes[2] === 0x33
  assert.ok(isTag || (bytes[0] === 0xff && (bytes[1] & 0xe0) === 0xe0), 'it is no mp3')
  assert.ok(bytes.length > 1_000, `${bytes.length} bytes`)
}

/** 16-bit samples at 24,000 Hz, of at least half a second. */
export function isPcm(bytes) {
  assert.equal(bytes.length % 2, 0)
  assert.ok(bytes.length > 24_000, `${bytes.length} bytes`)
}
