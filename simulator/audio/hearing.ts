import { estimatedSeconds, formatOfBytes, formatOfName, wavSeconds } from '../audio-format.ts'
import type { ApiError } from '../errors.ts'
import type { Faults } from '../faults.ts'
import { recognisedSecondsMax } from '../limits.ts'
import type { MountSettings } from '../mount-settings.ts'
import type { Programs } from '../programs.ts'
import {
  probedSeconds,
  recognise,
  type Recognition,
  scriptedRecognition,
  scriptedText,
  type SpokenWord,
} from '../recognise.ts'
import type { UploadedFile } from '../uploaded-file.ts'

/** The parts of a posting request that listening needs. */
export interface Listening {
  faults: Faults
  settings: MountSettings
  programs: Programs
  signal: AbortSignal
}

/** How audio is read, and the API's errors for unreadable audio. */
export interface Reading {
  /** Headerless 16-bit little-endian samples; absent for a file that describes itself. */
  samples?: { rate: number; channels: number }
  /** The error for a file whose format neither its bytes nor its name show. */
  unrecognised(): ApiError
  undecodable(): ApiError
}

/** The words heard in posted audio, and its length. */
export interface Heard {
  recognition: Recognition
  /** The true length, as far as the bytes or a probe tell it. */
  seconds: number
}

/**
 * Listens to posted audio: with real programs when they are installed and the clip is short, otherwise by a script.
 * Throws the errors of `reading`.
 */
export async function hear(file: UploadedFile, listening: Listening, reading: Reading): Promise<Heard> {
  const { faults, settings, programs, signal } = listening
  const isScripted =
    faults.scripted === true || faults.text !== undefined || settings.transcription === 'scripted'
  const seconds = await secondsOf(file, { ...listening, ...reading, isScripted })
  const isRecognised = !isScripted && seconds <= recognisedSecondsMax
  const recognition =
    (isRecognised ? await recognise(file, { programs, signal, ...reading }) : null) ??
    scriptedRecognition(faults.text ?? scriptedText(seconds), seconds)
  return { recognition, seconds }
}

/**
 * The true length of the posted audio, so that billing is exercised. A scripted call takes the format of
 * unknown bytes from the file's name, so that tests can post anything; otherwise undecodable audio is refused
 * as the provider refuses it.
 */
async function secondsOf(
  file: UploadedFile,
  {
    samples,
    unrecognised,
    undecodable,
    isScripted,
    programs,
    signal,
  }: Listening & Reading & { isScripted: boolean },
): Promise<number> {
  if (samples !== undefined) return file.bytes / (2 * samples.rate * samples.channels)
  const format = formatOfBytes(file.head) ?? formatOfName(file.fileName, file.contentType)
  if (format === null) throw unrecognised()
  const known = wavSeconds(file.head, file.bytes)
  if (known !== null) return known
  const probed = await probedSeconds(file, programs, signal)
  if (probed === null || (isScripted && Number.isNaN(probed))) return estimatedSeconds(format, file.bytes)
  if (Number.isNaN(probed)) throw undecodable()
  return probed
}

/** The words of one speaker up to the next speaker or a pause. */
export interface SpokenTurn {
  /** From 0, in the order of first appearance. */
  speaker: number
  words: SpokenWord[]
}

/** Gives the utterances to two speakers in turn. */
export function turnsOf({ utterances }: Recognition): SpokenTurn[] {
  return utterances.map((words, index) => ({ speaker: index % 2, words }))
}

/** Words as one text. */
export function joined(words: readonly SpokenWord[]): string {
  return words.map(({ word }) => word).join(' ')
}

/**
 * A word with punctuation: the first word of an utterance begins with a capital, and a full stop follows the
 * last.
 */
export function punctuated(words: readonly SpokenWord[]): string[] {
  return words.map(({ word }, at) => {
    const begun = at === 0 ? word.charAt(0).toUpperCase() + word.slice(1) : word
    return at === words.length - 1 && /[\p{L}\p{N}]$/u.test(word) ? `${begun}.` : begun
  })
}
