import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { jsonReply, type Reply } from '../../reply.ts'
import type { UploadedFile } from '../../uploaded-file.ts'
import type { AudioApi, AudioAsked } from '../audio-api.ts'
import { hear, type Listening } from '../hearing.ts'
import { fetchFile } from '../remote-file.ts'
import { requestIdOf } from '../request-id.ts'
import { listenBody } from './body.ts'
import { parseListen } from './request.ts'
import { deepgramSpeak } from './speak.ts'
import { deepgramStyle, refusal } from './style.ts'

const uploadBytesMax = 2_000_000_000

const corrupt = () =>
  refusal(400, 'Bad Request', 'Bad Request: failed to process audio: corrupt or unsupported data')
const unreachable = () =>
  refusal(400, 'REMOTE_CONTENT_ERROR', 'The remote server hosting the media returned a client error.')

/** `POST /v1/listen`: audio in the body, or its address in a JSON body. */
async function listen(asked: AudioAsked): Promise<Reply> {
  const { query, body, key, signal, mount, faults, programs } = asked
  const request = parseListen(query)
  const listening: Listening = { faults, settings: mount.settings, programs, signal }
  if (body.file !== null) return heard(body.file)
  const url = asked.json?.['url']
  if (asked.json === null) throw refusal(400, 'INVALID_JSON', 'Invalid JSON submitted.')
  if (typeof url !== 'string') throw refusal(400, 'PAYLOAD_ERROR', 'Failed to deserialize JSON payload.')
  const remote = await fetchFile(url, { bytesMax: uploadBytesMax, signal, unreachable })
  try {
    return await heard(remote.file)
  } finally {
    await remote.dispose()
  }

  async function heard(file: UploadedFile): Promise<Reply> {
    const { samples } = request
    const reading = {
      ...(samples === undefined ? {} : { samples }),
      unrecognised: corrupt,
      undecodable: corrupt,
    }
    const { recognition, seconds } = await hear(file, listening, reading)
    const sha256 = await hashOf(file)
    const told = listenBody(request, recognition, { seconds, sha256, requestId: requestIdOf(key) })
    const reply = jsonReply(JSON.stringify(told))
    return { ...reply, headers: { 'x-simulator-transcription': recognition.engine } }
  }
}

async function hashOf(file: UploadedFile): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(await file.path())) hash.update(chunk)
  return hash.digest('hex')
}

/** Deepgram's API for recorded audio and for speech. Callbacks and WebSocket streams are not simulated. */
export const deepgram: AudioApi = {
  slug: 'deepgram',
  style: deepgramStyle,
  uploadBytesMax,
  modelOf: ({ query }) => query.get('model'),
  operations: [{ method: 'POST', path: /^\/v1\/listen$/, answer: listen }, deepgramSpeak],
}
