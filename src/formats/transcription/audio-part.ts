import { pcmInputRate, wavHeader } from '../../canonical/audio.ts'
import type { AudioSource } from '../../canonical/call.ts'
import type { FormFile } from './multipart-body.ts'

/** Audio as the file of a form, named by its format; the caller's file name is not sent. */
export function audioPart({ sizeBytes, fileName, contentType, open }: AudioSource): FormFile {
  return { name: 'file', fileName, contentType, prefix: new Uint8Array(0), sizeBytes, open: () => open() }
}

/** Headerless samples as a WAV file in a form, for providers that take only files with a header. */
export function wavPart(audio: AudioSource): FormFile {
  const prefix = wavHeader(audio.sizeBytes, pcmInputRate)
  return { ...audioPart(audio), fileName: 'audio.wav', contentType: 'audio/wav', prefix }
}
