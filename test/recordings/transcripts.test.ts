import { afterAll, describe, expect, test } from 'bun:test'
import { presets } from '../../src/providers/registry.ts'
import { startTestGateway, toneWav } from '../support/gateway.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { rowsOf } from '../support/rows-of-providers.ts'
import { readReplies, whyNoTranscripts } from './transcripts.ts'

/**
 * Transcripts of a whole API each; one provider may have several. Groq's is left out: it is plain text, which was asked for, and
 * the gateway asks Groq for JSON, because plain text does not say how long the sound was.
 */
const recordedTranscripts = rowsOf('transcripts')

const reason = whyNoTranscripts()
if (reason !== null) console.log(reason)

const upstream = startScriptedUpstream()
const gateway = await startTestGateway({
  providers: () =>
    recordedTranscripts.map(({ preset, upstream: name }) => ({
      preset,
      base_url: upstream.url,
      api_key: 'key',
      weight: 1,
      discover: false,
      only_models: true,
      models: [{ id: `${preset}/model`, upstream: name, modality: 'transcription' }],
    })),
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

describe.if(reason === null)('a recorded transcript', () => {
  test.each(recordedTranscripts.map((row) => [row.preset, row] as const))(
    'of %s is told as it was',
    async (_, row) => {
      const replies = readReplies(row)
      const last = replies.at(-1) ?? {}
      const expected = row.expected(last, replies)
      const coming = [...replies]
      upstream.answer(({ method }) =>
        method === 'DELETE' ? new Response(null, { status: 204 }) : Response.json(coming.shift()),
      )
      // As long as it was said to be, so that its length is believed.
      const seconds = typeof expected['duration'] === 'number' ? expected['duration'] : 3
      const data = Buffer.from(toneWav(seconds)).toString('base64')
      const { status, json } = await gateway.post('/audio/transcriptions', {
        model: `${row.preset}/model`,
        input_audio: { data, format: 'wav' },
        response_format: 'verbose_json',
        ...(row.words ? { timestamp_granularities: ['word'] } : {}),
        ...(row.diarize === true ? { diarize: true } : {}),
      })
      expect(status).toBe(200)
      expect(json).toMatchObject(expected)
      expect(Object.keys(json)).not.toContain('entities')
      const segments = json['segments'] as { text: string }[]
      const said = segments.map(({ text }) => text).join(' ')
      // One recording has the first of its words alone; segments that are made of words say no more.
      expect(String(json['text']).replaceAll(/\s+/g, ' ')).toStartWith(said.replaceAll(/\s+/g, ' '))
    },
  )
})

test('the providers whose transcripts are called recorded are those that are replayed', () => {
  const called = presets.flatMap(({ slug, recordedAudio }) =>
    recordedAudio.includes('transcription') ? [slug] : [],
  )
  expect(called.toSorted()).toEqual(recordedTranscripts.map(({ preset }) => preset).toSorted())
})
