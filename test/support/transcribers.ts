/**
 * What each transcription provider must make of a call, written by hand from the mapping of requests and of answers in the provider's
 * documents. The simulator hears `heardText` in six seconds of sound: twelve words of half a second each, the first eight by one
 * speaker and the rest by another, where the provider tells speakers apart.
 */
export interface Transcriber {
  preset: string
  /** The base URL below the mount. */
  path: string
  /** Members of every address, which the configuration adds. */
  query?: Record<string, string>
  /** The name that the provider knows. */
  upstream: string
  /** Behind the slug of the preset, where a row more is for another of its models. */
  variant?: string
  /** The text: with sentences, or plain. */
  text: string
  /** What `language` is where the caller names none. */
  language: string | null
  /** Where the provider tells how sure it is. */
  languageConfidence?: number
  confidence?: number
  wordConfidence?: number
  /** Begin and end of each segment. */
  segments: readonly (readonly [number, number])[]
  /** Whether words can be asked for. */
  words: boolean
  /** Labels of the speakers by first appearance: of words under `diarize`; of segments alone, without it; or neither. */
  speakers: { of: 'words' | 'segments'; labels: readonly string[] } | null
  /** How terms are sent; null where `keyterms` is refused. */
  keyterms: readonly Sent[] | null
  /** What else is sent for these; null where the field is left out and listed. */
  sends: {
    language: Sent | Told
    temperature: Sent | null
    /** With `provider.zdr` or `data_collection: deny`, where the provider can be asked. */
    privacy?: { wish: Record<string, unknown>; sent: Sent }
  }
  /** Which part or member has an address; null where the gateway fetches it. */
  url: string | null
  /** How samples without a header go. */
  pcm: 'wav' | readonly Sent[]
  /** What `provider.options` asks for entities with; absent where the provider finds none. */
  entities?: { options: Record<string, unknown>; types: readonly [string, string] }
  /** How a job is made: JSON whose members count as fields, and the bytes of an upload before it. */
  job?: { path: string; upload: string }
  /**
   * The field whose JSON has what is asked, or no name where that JSON is the whole body, and its member in which most of it
   * stands, where it has such a one.
   */
  config?: readonly [field: string, member?: string]
  /** What the configuration says of the model, where its name does not tell what it can do. */
  audio?: Record<string, unknown>
  /** The text comes piece by piece where a caller wants events. */
  streams?: true
  /** What the provider says with a status, where it is not the usual. */
  statuses?: Readonly<Record<number, number>>
}

/** A field of a form or a member of the address, as it must arrive. */
export type Sent = readonly [name: string, value: string]

/** What a model is told in words, in a member that has more of them. */
export interface Told {
  within: string
  words: string
}

/** What the simulator is told to hear. */
export const heardText = 'we met Anna in New York last week again they said no'
const sentences = 'We met Anna in New York last week. Again they said no.'

/** Groups of eight words, as the simulator makes them. */
const utterances = [
  [0, 4],
  [4, 6],
] as const
/** Sentences, which begin and end where those do. */
const whole = [[0, 6]] as const

const languageSent: Sent = ['language', 'de']
const temperatureSent: Sent = ['temperature', '0.3']
const usual = { language: languageSent, temperature: temperatureSent }

/** Every transcription provider with a fake. */
export const transcribers: readonly Transcriber[] = [
  {
    preset: 'openai',
    path: '/v1',
    upstream: 'whisper-1',
    text: heardText,
    language: 'en',
    segments: utterances,
    words: true,
    speakers: null,
    keyterms: null,
    sends: usual,
    url: null,
    pcm: 'wav',
  },
  {
    preset: 'openai',
    variant: 'tokens',
    path: '/v1',
    upstream: 'gpt-4o-transcribe',
    text: heardText,
    language: null,
    segments: whole,
    words: false,
    speakers: null,
    keyterms: null,
    sends: usual,
    url: null,
    pcm: 'wav',
    streams: true,
  },
  {
    preset: 'openai',
    variant: 'diarize',
    path: '/v1',
    upstream: 'gpt-4o-transcribe-diarize',
    text: heardText,
    language: null,
    segments: utterances,
    words: false,
    speakers: { of: 'segments', labels: ['A', 'B'] },
    keyterms: null,
    sends: usual,
    url: null,
    pcm: 'wav',
  },
  {
    preset: 'openai',
    variant: 'keywords',
    path: '/v1',
    upstream: 'gpt-transcribe',
    text: heardText,
    language: 'en',
    segments: whole,
    words: false,
    speakers: null,
    keyterms: [
      ['keywords[]', 'head race'],
      ['keywords[]', 'sluice'],
    ],
    sends: usual,
    url: null,
    pcm: 'wav',
    streams: true,
  },
  {
    preset: 'azure',
    path: '/openai/v1',
    upstream: 'whisper-1',
    text: heardText,
    language: 'en',
    segments: utterances,
    words: true,
    speakers: null,
    keyterms: null,
    sends: usual,
    url: null,
    pcm: 'wav',
  },
  {
    preset: 'azure',
    variant: 'older',
    path: '/openai',
    upstream: 'gpt-4o-transcribe-diarize',
    query: { 'api-version': '2025-04-01-preview' },
    text: heardText,
    language: null,
    segments: utterances,
    words: false,
    speakers: { of: 'segments', labels: ['A', 'B'] },
    keyterms: null,
    sends: usual,
    url: null,
    pcm: 'wav',
  },
  {
    preset: 'custom',
    path: '/v1',
    upstream: 'whisper-1',
    text: heardText,
    language: 'en',
    segments: utterances,
    words: true,
    speakers: null,
    keyterms: null,
    sends: usual,
    url: null,
    pcm: 'wav',
  },
  {
    preset: 'google-ai-studio',
    path: '/v1beta',
    upstream: 'gemini-2.5-flash',
    text: sentences,
    language: 'en',
    segments: whole,
    words: false,
    speakers: null,
    keyterms: null,
    sends: {
      language: { within: 'contents', words: 'ISO 639-1 code \\"de\\"' },
      temperature: temperatureSent,
    },
    url: null,
    pcm: 'wav',
    config: ['', 'generationConfig'],
  },
  {
    preset: 'google-ai-studio',
    variant: 'timed',
    path: '/v1beta',
    upstream: 'gemini-3-flash-preview',
    audio: { word_times: true, diarize: true, keyterms: true },
    text: sentences,
    language: 'en',
    segments: utterances,
    words: true,
    speakers: { of: 'words', labels: ['spk_1', 'spk_2'] },
    keyterms: [['audioTranscriptionConfig', '{"customVocabulary":["head race","sluice"]}']],
    sends: {
      language: ['audioTranscriptionConfig', '{"languageCodes":["de"]}'],
      temperature: temperatureSent,
    },
    url: null,
    pcm: 'wav',
    config: ['', 'generationConfig'],
  },
  {
    preset: 'openrouter',
    path: '/openrouter/api/v1',
    upstream: 'openai/whisper-1',
    text: heardText,
    language: 'en',
    wordConfidence: 0.97,
    segments: utterances,
    words: true,
    speakers: null,
    keyterms: null,
    sends: usual,
    url: 'url',
    pcm: [['format', 'pcm']],
    config: ['', 'input_audio'],
  },
  {
    preset: 'openrouter',
    variant: 'speakers',
    path: '/openrouter/api/v1',
    upstream: 'deepgram/nova-3',
    text: heardText,
    language: 'en',
    wordConfidence: 0.97,
    segments: utterances,
    words: true,
    speakers: { of: 'words', labels: ['speaker_0', 'speaker_1'] },
    keyterms: [['keyterms', '["head race","sluice"]']],
    sends: usual,
    url: 'url',
    pcm: [['format', 'pcm']],
    config: ['', 'input_audio'],
  },
  {
    preset: 'groq',
    path: '/groq/openai/v1',
    upstream: 'whisper-large-v3',
    text: heardText,
    language: 'en',
    segments: utterances,
    words: true,
    speakers: null,
    keyterms: null,
    sends: usual,
    url: 'url',
    pcm: 'wav',
  },
  {
    preset: 'mistral',
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
    preset: 'mistral',
    variant: 'words',
    path: '/mistral/v1',
    upstream: 'voxtral-mini-2602',
    text: heardText,
    language: null,
    // There a word is a segment of its own, and segments have scores.
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
  {
    preset: 'fireworks',
    path: '/fireworks/v1',
    upstream: 'whisper-v3',
    text: heardText,
    language: 'en',
    segments: utterances,
    words: true,
    speakers: { of: 'words', labels: ['SPEAKER_00', 'SPEAKER_01'] },
    keyterms: null,
    sends: usual,
    url: 'file',
    pcm: 'wav',
  },
  {
    preset: 'together',
    path: '/together/v1',
    upstream: 'openai/whisper-large-v3',
    text: heardText,
    language: 'en',
    segments: utterances,
    words: true,
    speakers: { of: 'words', labels: ['SPEAKER_00', 'SPEAKER_01'] },
    keyterms: null,
    sends: usual,
    url: 'file',
    pcm: 'wav',
  },
  {
    preset: 'deepinfra',
    path: '/deepinfra/v1/openai',
    upstream: 'openai/whisper-large-v3',
    text: heardText,
    language: 'en',
    segments: utterances,
    words: true,
    speakers: null,
    keyterms: null,
    sends: usual,
    url: null,
    pcm: 'wav',
  },
  {
    preset: 'assemblyai',
    path: '/assemblyai',
    upstream: 'universal-3-5-pro',
    text: sentences,
    language: 'en',
    languageConfidence: 0.9941,
    confidence: 0.97,
    wordConfidence: 0.97,
    segments: utterances,
    words: true,
    speakers: { of: 'words', labels: ['A', 'B'] },
    keyterms: [
      ['keyterms_prompt', 'head race'],
      ['keyterms_prompt', 'sluice'],
    ],
    sends: { language: ['language_code', 'de'], temperature: temperatureSent },
    url: 'audio_url',
    pcm: 'wav',
    entities: { options: { entity_detection: true }, types: ['person_name', 'location'] },
    job: { path: '/v2/transcript', upload: '/v2/upload' },
  },
  {
    preset: 'gladia',
    path: '/gladia',
    upstream: 'solaria-1',
    text: sentences,
    language: 'en',
    wordConfidence: 0.97,
    segments: utterances,
    words: true,
    speakers: { of: 'words', labels: ['0', '1'] },
    keyterms: [['custom_vocabulary_config', '{"vocabulary":["head race","sluice"]}']],
    sends: { language: ['language_config', '{"languages":["de"]}'], temperature: null },
    url: 'audio_url',
    pcm: 'wav',
    entities: { options: { named_entity_recognition: true }, types: ['NAME', 'LOCATION'] },
    job: { path: '/v2/pre-recorded', upload: '/v2/upload' },
  },
  {
    preset: 'speechmatics',
    path: '/speechmatics/v2',
    upstream: 'enhanced',
    text: sentences,
    language: 'en',
    languageConfidence: 0.96,
    wordConfidence: 0.97,
    segments: utterances,
    words: true,
    speakers: { of: 'words', labels: ['S1', 'S2'] },
    keyterms: [['additional_vocab', '[{"content":"head race"},{"content":"sluice"}]']],
    sends: { language: ['language', 'de'], temperature: null },
    url: 'fetch_data',
    pcm: 'wav',
    config: ['config', 'transcription_config'],
  },
  {
    preset: 'revai',
    path: '/revai/speechtotext/v1',
    upstream: 'machine',
    text: sentences,
    language: 'en',
    wordConfidence: 0.97,
    segments: utterances,
    words: true,
    speakers: { of: 'words', labels: ['0', '1'] },
    keyterms: [['custom_vocabularies', '[{"phrases":["head race","sluice"]}]']],
    sends: { language: languageSent, temperature: null },
    url: 'source_config',
    pcm: 'wav',
    config: ['options'],
  },
  {
    preset: 'deepgram',
    path: '/deepgram/v1',
    upstream: 'nova-3',
    text: sentences,
    language: 'en',
    languageConfidence: 0.9873,
    confidence: 0.97,
    wordConfidence: 0.97,
    segments: utterances,
    words: true,
    speakers: { of: 'words', labels: ['0', '1'] },
    keyterms: [
      ['keyterm', 'head race'],
      ['keyterm', 'sluice'],
    ],
    sends: {
      language: languageSent,
      temperature: null,
      privacy: { wish: { data_collection: 'deny' }, sent: ['mip_opt_out', 'true'] },
    },
    url: 'url',
    pcm: [
      ['encoding', 'linear16'],
      ['sample_rate', '16000'],
    ],
    entities: { options: { detect_entities: true }, types: ['NAME', 'GPE'] },
  },
  {
    preset: 'cartesia',
    path: '/cartesia',
    upstream: 'ink-whisper',
    text: sentences,
    language: 'en',
    segments: utterances,
    words: true,
    speakers: null,
    keyterms: null,
    sends: { language: languageSent, temperature: null },
    url: null,
    pcm: [
      ['encoding', 'pcm_s16le'],
      ['sample_rate', '16000'],
    ],
  },
  {
    preset: 'xai',
    path: '/xai/v1',
    upstream: 'grok-stt',
    text: heardText,
    language: 'en',
    segments: whole,
    words: true,
    speakers: { of: 'words', labels: ['0', '1'] },
    keyterms: [
      ['keyterm', 'head race'],
      ['keyterm', 'sluice'],
    ],
    sends: { language: languageSent, temperature: null },
    url: null,
    pcm: [
      ['audio_format', 'pcm'],
      ['sample_rate', '16000'],
    ],
  },
  {
    preset: 'elevenlabs',
    path: '/elevenlabs/v1',
    upstream: 'scribe_v2',
    text: sentences,
    language: 'en',
    languageConfidence: 0.98,
    wordConfidence: 0.97,
    segments: utterances,
    words: true,
    speakers: { of: 'words', labels: ['speaker_0', 'speaker_1'] },
    keyterms: [
      ['keyterms', 'head race'],
      ['keyterms', 'sluice'],
    ],
    sends: {
      language: ['language_code', 'de'],
      temperature: temperatureSent,
      privacy: { wish: { zdr: true }, sent: ['enable_logging', 'false'] },
    },
    url: 'source_url',
    pcm: [['file_format', 'pcm_s16le_16']],
    entities: { options: { entity_detection: 'all' }, types: ['name', 'location'] },
  },
  {
    preset: 'azure-speech',
    path: '/azure-speech/speechtotext',
    upstream: 'fast-transcription',
    text: sentences,
    language: 'en',
    wordConfidence: 0.97,
    segments: utterances,
    words: true,
    speakers: { of: 'words', labels: ['2', '1'] },
    keyterms: [['phraseList', '{"phrases":["head race","sluice"]}']],
    sends: { language: ['locales', '["de-DE"]'], temperature: null },
    url: 'audioUrl',
    pcm: 'wav',
    config: ['definition'],
  },
]
