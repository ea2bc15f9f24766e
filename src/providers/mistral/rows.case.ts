import {
  badKey,
  faulty,
  limited,
  base64,
  event,
  samples,
  type ProviderRows,
} from '../../../test/support/provider-rows.ts'
import { heardText, usual, utterances } from '../../../test/support/transcribers.ts'
import { listOf } from '../../../test/recordings/transcripts.ts'
import type { Wire } from '../../../test/recordings/wire.ts'

/** The rows of the shared tests for Mistral. */
export const rows: ProviderRows = {
  refusals: [
    { status: 401, body: { detail: 'Unauthorized' }, ...badKey },
    {
      status: 429,
      headers: { 'x-ratelimit-remaining-req-minute': '0' },
      body: {
        object: 'error',
        message: 'Rate limit exceeded',
        type: 'rate_limited',
        param: null,
        code: '1300',
      },
      ...limited,
    },
    {
      status: 422,
      body: {
        detail: [
          {
            loc: ['body', 'temperature'],
            msg: 'Input should be less than or equal to 1.5',
            type: 'less_than_equal',
          },
        ],
      },
      ...faulty,
    },
  ],
  transcribers: [
    {
      path: '/mistral/v1',
      upstream: 'voxtral-mini-transcribe-3-0',
      text: heardText,
      language: null,
      segments: utterances,
      words: false,
      speakers: { of: 'segments', labels: ['speaker_1', 'speaker_2'] },
      keyterms: [
        ['context_bias', 'head_race'],
        ['context_bias', 'sluice'],
      ],
      sends: usual,
      url: 'file_url',
      pcm: 'wav',
      streams: true,
    },
    {
      variant: 'words',
      path: '/mistral/v1',
      upstream: 'voxtral-mini-2602',
      text: heardText,
      language: null,
      // Mistral sends each word as a segment, and segments have scores.
      wordConfidence: 0.97,
      segments: utterances,
      words: true,
      speakers: { of: 'segments', labels: ['speaker_1', 'speaker_2'] },
      keyterms: [
        ['context_bias', 'head_race'],
        ['context_bias', 'sluice'],
      ],
      sends: usual,
      url: 'file_url',
      pcm: 'wav',
      streams: true,
    },
  ],
  transcripts: [
    {
      upstream: 'voxtral-mini-transcribe-3-0',
      file: 'mistral/src/__fixtures__/mistral-transcription.json',
      words: false,
      expected: (wire) => ({
        text: wire['text'],
        duration: (wire['usage'] as Wire)['prompt_audio_seconds'],
        segments: listOf(wire['segments']).map(({ start, end, text, speaker_id: label }, id) => ({
          id,
          start,
          end,
          text: String(text).trim(),
          speaker: 0,
          speaker_label: label,
        })),
      }),
    },
  ],
  speech: [
    {
      below: '/mistral/v1',
      model: 'mistralai/voxtral-mini-tts-3-0',
      voice: 'voice_478',
      clips: 1,
      missing: { voice: 'missing', status: 400 },
    },
  ],
  speechRequests: [
    {
      model: 'voxtral-mini-tts-3-0',
      fields: { voice: 'v' },
      path: '/audio/speech',
      body: {
        model: 'voxtral-mini-tts-3-0',
        input: 'Hello',
        voice_id: 'v',
        response_format: 'pcm',
        stream: true,
      },
    },
    {
      model: 'voxtral-mini-tts-3-0',
      fields: {
        input_references: [{ type: 'input_audio', input_audio: { data: 'data:audio/wav;base64,UklGRg==' } }],
      },
      path: '/audio/speech',
      body: {
        model: 'voxtral-mini-tts-3-0',
        input: 'Hello',
        ref_audio: 'UklGRg==',
        response_format: 'pcm',
        stream: true,
      },
    },
    {
      model: 'voxtral-mini-tts-2603',
      fields: { voice: 'v', response_format: 'mp3' },
      path: '/audio/speech',
      body: {
        model: 'voxtral-mini-tts-2603',
        input: 'Hello',
        voice_id: 'v',
        response_format: 'mp3',
        stream: true,
      },
    },
  ],
  speechReplies: [
    {
      name: 'Mistral writes floats as base64 in events, and the last one tells its tokens',
      reply: {
        contentType: 'text/event-stream',
        body:
          event({ type: 'speech.audio.delta', audio_data: base64 }) +
          event({ type: 'speech.audio.done', usage: { prompt_tokens: 3, completion_tokens: 20 } }),
      },
      output: { ...samples, encoding: 'f32le' },
      billed: { inputTokens: 3, outputTokens: 20, outputAudioTokens: 20 },
    },
  ],
  speechFailures: [
    {
      name: 'Mistral',
      reply: {
        contentType: 'text/event-stream',
        body: event({ object: 'error', message: 'words', type: 'server_error', param: null, code: null }),
      },
      type: 'provider_failed',
    },
  ],
  speechCutOff: [
    {
      reply: {
        contentType: 'text/event-stream',
        body: event({ type: 'speech.audio.delta', audio_data: base64 }),
      },
    },
  ],
}
