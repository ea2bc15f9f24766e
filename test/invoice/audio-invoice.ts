/**
 * What audio has to be paid for, worked out by hand from what its sellers write: their lists stand here as they were typed
 * in from there, and the amounts were computed on paper. Nothing here is read from the gateway's own tables.
 */

/** One call: sound that is transcribed, or a text that is spoken, with what its provider said that it used. */
export type AudioAsked =
  | {
      seconds: number
      channels?: number
      with?: readonly ('diarize' | 'keyterms' | 'entities')[]
      tokens?: { input: number; inputAudio: number; output: number }
    }
  | {
      text: string
      billed?: {
        characters?: number
        inputTokens?: number
        outputTokens?: number
        audioMilliseconds?: number
      }
    }

/** `list` is a model of a provider whose prices ship, or a list of `sellersLists`; the amount is in nanocredits. */
export type AudioInvoiceRow = readonly [list: string, asked: AudioAsked, working: string, amount: bigint]

/** Price lists that an operator would write down, by the name that the rows call them. */
export const sellersLists: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'an hour at 0.40, terms 20 % more': { audio_per_hour: '0.40', surcharges: { keyterms: { percent: 20 } } },
  'a minute of a channel at 0.0048, speakers 0.002 and terms 0.0013 more': {
    audio_per_minute: '0.0048',
    per_channel: true,
    surcharges: { diarize: { per_minute: '0.002' }, keyterms: { per_minute: '0.0013' } },
  },
  'an hour at 0.21, speakers 0.02 and entities 0.08 more': {
    audio_per_hour: '0.21',
    surcharges: { diarize: { per_hour: '0.02' }, entities: { per_hour: '0.08' } },
  },
  'a million bytes at 15': { utf8_bytes_per_million: '15' },
  'an hour at 0.36, a second at least': { audio_per_hour: '0.36', round_to_seconds: 1 },
  'two seconds at 0.0001': { audio_per_second: '0.00005', round_to_seconds: 2 },
  'an hour at 0.36, 20 s at least, 15 s each, 0.0005 a call': {
    audio_per_hour: '0.36',
    minimum_seconds: 20,
    round_to_seconds: 15,
    per_request: '0.0005',
  },
  'tokens at 0.5, of sound 1, out 2, terms 10 % more': {
    input_per_million: '0.5',
    input_audio_per_million: '1',
    output_per_million: '2',
    surcharges: { keyterms: { percent: 10 } },
  },
  'a second at 0.0000005': { audio_per_second: '0.0000005' },
  'a million characters at 100': { characters_per_million: '100' },
  'a million characters at 14.30': { characters_per_million: '14.30' },
  'a minute of speech at 0.06': { audio_per_minute: '0.06' },
}

const everyWeekday = 'Monday, Tuesday and Wednesday. '

export const audioInvoice: readonly AudioInvoiceRow[] = [
  // 0.006 USD a minute, which is 0.0001 a second, in whole seconds.
  ['openai/whisper-1', { seconds: 10 }, '10 × 0.0001', 1_000_000n],
  ['openai/whisper-1', { seconds: 10.001 }, '11 × 0.0001', 1_100_000n],
  ['openai/whisper-1', { seconds: 0.3 }, '1 × 0.0001', 100_000n],
  ['openai/whisper-1', { seconds: 3_600 }, '3600 × 0.0001', 360_000_000n],
  ['openai/whisper-1', { seconds: 59.5, channels: 2 }, '60 × 0.0001, whatever its channels', 6_000_000n],
  // 0.0045 USD a minute: 75 nanocredits for a thousandth of a second.
  ['openai/gpt-transcribe', { seconds: 0.001 }, '1 × 75', 75n],
  ['openai/gpt-transcribe', { seconds: 0.007 }, '7 × 75', 525n],
  ['openai/gpt-transcribe', { seconds: 90 }, '1.5 × 0.0045', 6_750_000n],
  ['openai/gpt-transcribe', { seconds: 61.234, with: ['keyterms'] }, '61234 × 75', 4_592_550n],
  // 0.111 USD an hour in whole seconds, ten of them at least.
  ['groq/whisper-large-v3', { seconds: 3 }, '0.111 × 10 / 3600 = 0.000308333…', 308_333n],
  ['groq/whisper-large-v3', { seconds: 10.2 }, '0.111 × 11 / 3600 = 0.000339166…', 339_167n],
  ['groq/whisper-large-v3', { seconds: 3_600 }, '0.111', 111_000_000n],
  ['groq/whisper-large-v3', { seconds: 5_400 }, '0.111 × 1.5', 166_500_000n],
  // 0.04 USD an hour, counted alike.
  ['groq/whisper-large-v3-turbo', { seconds: 25 }, '0.04 × 25 / 3600 = 0.000277777…', 277_778n],
  ['groq/whisper-large-v3-turbo', { seconds: 9.9 }, '0.04 × 10 / 3600 = 0.000111111…', 111_111n],
  // 0.000058 and 0.0000667 USD a second.
  ['mistral/voxtral-mini-transcribe-3-0', { seconds: 100 }, '100 × 0.000058', 5_800_000n],
  ['mistral/voxtral-mini-transcribe-3-0', { seconds: 0.4 }, '1 × 0.000058', 58_000n],
  ['mistral/voxtral-small-transcribe-latest', { seconds: 3 }, '3 × 0.0000667', 200_100n],
  ['mistral/voxtral-small-transcribe-latest', { seconds: 2.2 }, '3 × 0.0000667', 200_100n],
  // 0.0009 USD a minute, speakers 40 % more.
  ['fireworks/whisper-v3-turbo', { seconds: 600 }, '10 × 0.0009', 9_000_000n],
  ['fireworks/whisper-v3-turbo', { seconds: 600, with: ['diarize'] }, '10 × 0.0009 × 1.4', 12_600_000n],
  ['fireworks/whisper-v3-turbo', { seconds: 1.234, with: ['diarize'] }, '1.234 × 0.000015 × 1.4', 25_914n],
  // 15, 30 and 14.30 USD for a million characters.
  ['openai/tts-1', { text: 'Hello, world.' }, '13 × 0.000015', 195_000n],
  ['openai/tts-1', { text: 'naïve café 🙂' }, '12 × 0.000015', 180_000n],
  ['openai/tts-1-hd', { text: everyWeekday }, '31 × 0.00003', 930_000n],
  ['a million characters at 14.30', { text: everyWeekday.repeat(10) }, '310 × 0.0000143', 4_433_000n],
  ['a million characters at 14.30', { text: 'Guten 7' }, '7 × 0.0000143', 100_100n],
  // 30 and 15 USD for a million characters, 15 for a million bytes.
  ['deepgram/aura-2', { text: everyWeekday }, '31 × 0.00003', 930_000n],
  ['deepgram/aura-2-thalia-en', { text: 'Grüße' }, '5 × 0.00003', 150_000n],
  ['deepgram/aura', { text: everyWeekday }, '31 × 0.000015', 465_000n],
  ['fish-audio/s2.1-pro', { text: 'Grüße' }, '7 × 0.000015', 105_000n],
  ['minimax/speech-2.8-hd', { text: '你好吗', billed: { characters: 6 } }, '6 × 0.0001', 600_000n],
  ['xai/grok-tts', { text: everyWeekday }, '31 × 0.000015', 465_000n],
  // 0.60 USD for a million tokens of text, 12 for those of sound.
  [
    'openai/gpt-4o-mini-tts',
    { text: everyWeekday, billed: { inputTokens: 20, outputTokens: 310 } },
    '20 × 0.0000006 + 310 × 0.000012',
    3_732_000n,
  ],
  [
    'openai/gpt-4o-mini-tts-2025-12-15',
    { text: 'Go', billed: { inputTokens: 7, outputTokens: 1 } },
    '7 × 0.0000006 + 0.000012',
    16_200n,
  ],
  // Like ElevenLabs. Its least of 20 s is for more than 100 terms, and a call here has at most 100.
  ['an hour at 0.40, terms 20 % more', { seconds: 3_600, with: ['keyterms'] }, '0.40 × 1.2', 480_000_000n],
  ['an hour at 0.40, terms 20 % more', { seconds: 1 }, '0.40 / 3600 = 0.000111111…', 111_111n],
  [
    'an hour at 0.40, terms 20 % more',
    { seconds: 1, with: ['keyterms'] },
    '0.48 / 3600 = 0.000133333…',
    133_333n,
  ],
  [
    'an hour at 0.40, terms 20 % more',
    { seconds: 12.5, with: ['keyterms'] },
    '0.48 × 12.5 / 3600 = 0.001666…',
    1_666_667n,
  ],
  [
    'an hour at 0.40, terms 20 % more',
    { seconds: 60, channels: 2, with: ['diarize'] },
    '0.40 / 60 = 0.00666…',
    6_666_667n,
  ],
  // Like Deepgram.
  [
    'a minute of a channel at 0.0048, speakers 0.002 and terms 0.0013 more',
    { seconds: 60, channels: 2 },
    '2 × 0.0048',
    9_600_000n,
  ],
  [
    'a minute of a channel at 0.0048, speakers 0.002 and terms 0.0013 more',
    { seconds: 60, with: ['diarize'] },
    '0.0048 + 0.002',
    6_800_000n,
  ],
  [
    'a minute of a channel at 0.0048, speakers 0.002 and terms 0.0013 more',
    { seconds: 60, channels: 2, with: ['diarize', 'keyterms'] },
    '2 × (0.0048 + 0.002 + 0.0013)',
    16_200_000n,
  ],
  [
    'a minute of a channel at 0.0048, speakers 0.002 and terms 0.0013 more',
    { seconds: 0.125 },
    '0.125 × 0.00008',
    10_000n,
  ],
  [
    'a minute of a channel at 0.0048, speakers 0.002 and terms 0.0013 more',
    { seconds: 0.001, channels: 6, with: ['entities'] },
    '6 × 0.00000008',
    480n,
  ],
  // Like AssemblyAI.
  [
    'an hour at 0.21, speakers 0.02 and entities 0.08 more',
    { seconds: 3_600, with: ['diarize', 'keyterms', 'entities'] },
    '0.21 + 0.02 + 0.08',
    310_000_000n,
  ],
  ['an hour at 0.21, speakers 0.02 and entities 0.08 more', { seconds: 3_600 }, '0.21', 210_000_000n],
  [
    'an hour at 0.21, speakers 0.02 and entities 0.08 more',
    { seconds: 1_800, with: ['entities'] },
    '0.29 / 2',
    145_000_000n,
  ],
  [
    'an hour at 0.21, speakers 0.02 and entities 0.08 more',
    { seconds: 10, channels: 2, with: ['diarize'] },
    '0.23 / 360 = 0.000638888…',
    638_889n,
  ],
  // Like Fish Audio: Grüße has seven bytes, a Chinese character three, a face four.
  ['a million bytes at 15', { text: 'Grüße' }, '7 × 0.000015', 105_000n],
  ['a million bytes at 15', { text: '你好' }, '6 × 0.000015', 90_000n],
  ['a million bytes at 15', { text: '🙂' }, '4 × 0.000015', 60_000n],
  ['a million bytes at 15', { text: 'Hello' }, '5 × 0.000015', 75_000n],
  ['an hour at 0.36, a second at least', { seconds: 2.01 }, '3 × 0.0001', 300_000n],
  ['an hour at 0.36, a second at least', { seconds: 2 }, '2 × 0.0001', 200_000n],
  // Like Cartesia.
  ['two seconds at 0.0001', { seconds: 3 }, '2 × 0.0001', 200_000n],
  ['two seconds at 0.0001', { seconds: 2 }, '0.0001', 100_000n],
  ['two seconds at 0.0001', { seconds: 2.001 }, '2 × 0.0001', 200_000n],
  // A least time that is no whole number of steps.
  [
    'an hour at 0.36, 20 s at least, 15 s each, 0.0005 a call',
    { seconds: 1 },
    '30 × 0.0001 + 0.0005',
    3_500_000n,
  ],
  [
    'an hour at 0.36, 20 s at least, 15 s each, 0.0005 a call',
    { seconds: 30 },
    '30 × 0.0001 + 0.0005',
    3_500_000n,
  ],
  [
    'an hour at 0.36, 20 s at least, 15 s each, 0.0005 a call',
    { seconds: 31 },
    '45 × 0.0001 + 0.0005',
    5_000_000n,
  ],
  // Like a model that hears tokens.
  [
    'tokens at 0.5, of sound 1, out 2, terms 10 % more',
    { seconds: 10, tokens: { input: 340, inputAudio: 320, output: 50 } },
    '20 × 0.0000005 + 320 × 0.000001 + 50 × 0.000002',
    430_000n,
  ],
  [
    'tokens at 0.5, of sound 1, out 2, terms 10 % more',
    { seconds: 10, with: ['keyterms'], tokens: { input: 340, inputAudio: 320, output: 50 } },
    '0.00043 × 1.1',
    473_000n,
  ],
  // Halves go to the even one: half a nanocredit, one and a half, two and a half.
  ['a second at 0.0000005', { seconds: 0.001 }, '0.5', 0n],
  ['a second at 0.0000005', { seconds: 0.003 }, '1.5', 2n],
  ['a second at 0.0000005', { seconds: 0.005 }, '2.5', 2n],
  // A provider's own count goes before ours.
  ['a million characters at 100', { text: '你好吗' }, '3 × 0.0001', 300_000n],
  ['a million characters at 100', { text: '你好吗', billed: { characters: 6 } }, '6 × 0.0001', 600_000n],
  [
    'a million characters at 100',
    { text: 'half of this', billed: { characters: 6 } },
    '6 × 0.0001',
    600_000n,
  ],
  [
    'a minute of speech at 0.06',
    { text: 'Two and a half.', billed: { audioMilliseconds: 2_500 } },
    '2.5 × 0.001',
    2_500_000n,
  ],
]
