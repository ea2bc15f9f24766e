import type { AudioIntake, LocalAudio, RemoteAudio } from '../../canonical/audio.ts'
import { GatewayError } from '../../core/errors.ts'
import { audioBodyBytesMax } from '../../core/limits/audio.ts'
import {
  formatOfFileName,
  formatOfMimeType,
  localAudio,
  type StatedFormat,
} from '../../formats/transcription/received-audio.ts'
import type { FetchedFile } from '../../transport/public-fetch.ts'

/** What fetching audio for a provider that takes no address needs. */
export interface RemoteAudioDependencies {
  open: () => Promise<FetchedFile>
  intake: AudioIntake
}

/** Fetches audio that the caller named by address. Throws `invalid_request` or `payload_too_large`; leaves nothing behind then. */
export async function fetchRemoteAudio(
  audio: RemoteAudio,
  { open, intake }: RemoteAudioDependencies,
): Promise<LocalAudio> {
  const file = await open()
  const spool = intake.createSpool()
  try {
    if ((file.sizeBytes ?? 0) > audioBodyBytesMax) throw tooLarge(audio)
    for await (const chunk of file.body) {
      await spool.write(chunk)
      release(chunk)
    }
    const stored = await spool.finish()
    // The server's name and type of a file are no statement of the caller, so they count only where the bytes tell
    // nothing.
    const { type } = await intake.recognize(stored, null)
    const served = formatOfMimeType(file.contentType) ?? formatOfFileName(file.name)
    const isTold = type === 'sound' || stored.sizeBytes === 0
    return await localAudio(stored, statedOf(audio, isTold ? null : served), intake)
  } catch (error) {
    file.body.destroy()
    await spool.discard()
    throw error
  }
}

/**
 * Gives back the memory of bytes that nobody else holds. The spool has its own copy, and an endless body is read faster
 * than the collector looks.
 */
function release({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}

function tooLarge({ field }: RemoteAudio): GatewayError {
  return new GatewayError(
    'payload_too_large',
    `"${field}" names more than ${audioBodyBytesMax} bytes. Send less, or compress it to mp3 or ogg.`,
    { param: field },
  )
}

function statedOf({ field, statedFormat }: RemoteAudio, served: string | null): StatedFormat {
  const isStated = statedFormat !== null
  return {
    format: statedFormat ?? served,
    param: field,
    says: isStated ? '"input_audio.format" says' : `What answers at "${field}" says`,
    formatParam: isStated ? 'input_audio.format' : field,
  }
}
