import { event, hex, samples, type ProviderRows } from '../../../test/support/provider-rows.ts'

const success = { status_code: 0, status_msg: 'success' }

const failure = (code: number, words = 'words') => ({
  contentType: 'application/json',
  body: JSON.stringify({ trace_id: 't', base_resp: { status_code: code, status_msg: words } }),
})

/** The rows of the shared tests for MiniMax. */
export const rows: ProviderRows = {
  speech: [
    {
      below: '/minimax/v1',
      model: 'minimax/speech-2.8-turbo',
      voice: 'English_Graceful_Lady',
      missing: { voice: 'missing', status: 400 },
      speeds: { within: 2, beyond: 2.1 },
      // It has no code for an overload.
      busy: 502,
      billed: 100,
    },
  ],
  speechRequests: [
    {
      model: 'speech-2.8-hd',
      fields: { voice: 'v', speed: 2 },
      path: '/t2a_v2',
      body: {
        model: 'speech-2.8-hd',
        text: 'Hello',
        stream: true,
        stream_options: { exclude_aggregated_audio: true },
        voice_setting: { voice_id: 'v', speed: 2 },
        audio_setting: { format: 'pcm', sample_rate: 24_000, channel: 1 },
      },
    },
    {
      model: 'speech-02-turbo',
      fields: { voice: 'v', response_format: 'mp3' },
      path: '/t2a_v2',
      body: {
        model: 'speech-02-turbo',
        text: 'Hello',
        stream: true,
        stream_options: { exclude_aggregated_audio: true },
        voice_setting: { voice_id: 'v' },
        audio_setting: { format: 'mp3', sample_rate: 32_000, bitrate: 128_000, channel: 1 },
      },
    },
  ],
  speechReplies: [
    {
      name: 'MiniMax writes hexadecimal in events, and the last one tells its characters',
      reply: {
        contentType: 'text/event-stream',
        body:
          event({ data: { audio: hex.slice(0, 4), status: 1 }, trace_id: 't', base_resp: success }) +
          event({ data: { audio: hex.slice(4), status: 1 }, trace_id: 't', base_resp: success }) +
          event({ data: { audio: '', status: 2 }, extra_info: { usage_characters: 6 }, base_resp: success }),
      },
      output: samples,
      billed: { characters: 6 },
    },
    {
      name: 'MiniMax may answer in one piece',
      reply: {
        contentType: 'application/json',
        body: JSON.stringify({
          data: { audio: hex, status: 2 },
          extra_info: { audio_length: 500, usage_characters: 8 },
          base_resp: success,
        }),
      },
      output: samples,
      billed: { characters: 8 },
    },
  ],
  speechFailures: [
    { name: 'MiniMax 1000', reply: failure(1000), type: 'provider_failed' },
    { name: 'MiniMax 1001', reply: failure(1001), type: 'provider_timeout' },
    { name: 'MiniMax 1002', reply: failure(1002), type: 'upstream_rate_limited' },
    { name: 'MiniMax 1004', reply: failure(1004), type: 'provider_failed', fault: true },
    { name: 'MiniMax 1008', reply: failure(1008), type: 'provider_failed', fault: true },
    { name: 'MiniMax 1024', reply: failure(1024), type: 'provider_failed' },
    { name: 'MiniMax 1026', reply: failure(1026), type: 'content_policy_violation' },
    { name: 'MiniMax 1027', reply: failure(1027), type: 'content_policy_violation' },
    { name: 'MiniMax 1033', reply: failure(1033), type: 'provider_failed' },
    { name: 'MiniMax 1039', reply: failure(1039), type: 'upstream_rate_limited' },
    { name: 'MiniMax 1041', reply: failure(1041), type: 'upstream_rate_limited' },
    { name: 'MiniMax 1042', reply: failure(1042), type: 'invalid_request' },
    { name: 'MiniMax 2013', reply: failure(2013), type: 'invalid_request' },
    {
      name: 'MiniMax 20132',
      reply: failure(20132, 'invalid voice or sample'),
      type: 'invalid_request',
      param: 'voice',
    },
  ],
  speechCutOff: [
    {
      reply: {
        contentType: 'text/event-stream',
        body: event({ data: { audio: hex, status: 1 }, base_resp: success }),
      },
    },
  ],
  withoutSdk: 'its documents show HTTP, and the SDKs of OpenAI and Anthropic',
}
