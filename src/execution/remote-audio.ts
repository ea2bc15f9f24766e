import { toFormat, type AudioIntake, type LocalAudio, type RemoteAudio } from '../canonical/audio.ts'
import { formatOfFileName, formatOfMimeType, localAudio } from '../formats/transcription/received-audio.ts'
import type { PublicFetch } from '../transport/public-fetch.ts'

/** What fetching audio for a provider that takes no address needs. */
export interface RemoteAudioDependencies {
  fetch: PublicFetch
  intake: AudioIntake
}

/** Fetches audio that the caller named by address. Throws `invalid_request` or `payload_too_large`; leaves nothing behind then. */
export async function fetchRemoteAudio(
  audio: RemoteAudio,
  dependencies: RemoteAudioDependencies,
): Promise<LocalAudio> {
  const file = await dependencies.fetch(audio.url, audio.field)
  const spool = dependencies.intake.createSpool()
  try {
    for await (const chunk of file.body) await spool.write(chunk)
    const stored = await spool.finish()
    const found =
      dependencies.intake.sniffFormat(stored.head) ??
      formatOfMimeType(file.contentType) ??
      formatOfFileName(file.name)
    return localAudio(stored, toFormat(audio.format) ?? found ?? 'wav', dependencies.intake, audio.field)
  } catch (error) {
    file.body.destroy()
    await spool.discard()
    throw error
  }
}
