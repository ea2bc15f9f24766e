import { z } from 'zod'
import { operations } from '../execution/operations.ts'
import type { DescribedOperation } from '../formats/text/text-operation-row.ts'
import { chatAnswerSchema, chatChunkSchema } from '../formats/text/chat/answer-schema.ts'
import { chatRequestSchema } from '../formats/text/chat/request-schema.ts'
import { embeddingsAnswerSchema, embeddingsRequestSchema } from '../formats/embeddings/request-schema.ts'
import { messagesAnswerSchema, messagesEventSchema } from '../formats/text/messages/answer-schema.ts'
import { messagesRequestSchema } from '../formats/text/messages/request-schema.ts'
import {
  responsesAnswerSchema,
  responsesCompactionSchema,
  responsesEventSchema,
} from '../formats/text/responses/answer-schema.ts'
import { responsesRequestSchema } from '../formats/text/responses/request-schema.ts'
import { speechRequestSchema } from '../formats/speech/speech-request.ts'
import {
  transcriptionFormSchema,
  transcriptionRequestSchema,
} from '../formats/transcription/transcription-request.ts'
import { creditsSchema, currentKeySchema, generationSchema } from './schemas/account.ts'
import { batchDescription } from './batch-description.ts'
import { json, readErrors, type Described } from './described.ts'
import { fileDescription } from './file-description.ts'
import { insightDescription } from './insight-description.ts'
import { isCachedOperation } from '../execution/cached/response-cache.ts'
import { keyDescription } from './key-description.ts'
import { messageBatchDescription } from './message-batch-description.ts'
import { modelDescription } from './model-description.ts'
import { peopleDescription } from './people-description.ts'
import { settingsPatchSchema, settingsSchema, signingSecretSchema } from './schemas/organization.ts'
import { transcriptEventSchema, transcriptionSchema } from './schemas/transcription.ts'
import * as examples from './api-examples.ts'

const bytes = { schema: { type: 'string', format: 'binary' } }
const metadataHeader = {
  name: 'X-Headrace-Metadata',
  description: '"enabled" adds `headrace_metadata`: candidates, attempts, what was dropped.',
}
const openRouterMetadataHeader = {
  name: 'X-OpenRouter-Metadata',
  description: '"enabled" adds the same object, also as `openrouter_metadata`.',
}
/** For the operations whose answers the response cache may keep. */
const cacheHeaders = [
  {
    name: 'X-OpenRouter-Cache',
    description:
      '"true" gives the kept answer of an equal call of the same key, free, and keeps this one otherwise.',
  },
  {
    name: 'X-OpenRouter-Cache-TTL',
    description: 'Seconds for which the answer may be given again, 1 to 86400; 300 by default.',
  },
  { name: 'X-OpenRouter-Cache-Clear', description: '"true" forgets the kept answer first.' },
]
const sessionHeader = {
  name: 'X-Session-Id',
  description: 'Session identifier, used when the body has none; at most 256 characters.',
}
const callHeaders = [
  { name: 'X-Generation-Id', description: 'Id of the call, for `GET /generation`.' },
  { name: 'X-Provider-Name', description: 'The provider that answered.' },
]
const inferenceErrors = [400, 401, 402, 403, 404, 413, 429, 500, 502, 503, 504, 524, 529]
/** For operations whose answer may fail to have the requested form. */
const textErrors = [...inferenceErrors, 422].toSorted((a, b) => a - b)
const chatExample = {
  model: 'openai/gpt-4o-mini',
  messages: [{ role: 'user', content: 'Why is the sky blue?' }],
  max_tokens: 200,
}

/** Operations that their formats describe. */
const describedByFormat = Object.fromEntries(
  Object.values(operations).flatMap(({ name, path, text }) => {
    if (text?.described === undefined) return []
    const described = describedOf(text.described)
    const { headers = [] } = described
    const all = isCachedOperation(name) ? [...headers, ...cacheHeaders] : headers
    return [[`POST ${path}`, { ...described, headers: all }]]
  }),
)

function describedOf({ request, answer, event, ...told }: DescribedOperation): Described {
  return {
    ...told,
    tag: 'Inference',
    access: 'inference',
    headers: [sessionHeader, metadataHeader, openRouterMetadataHeader],
    body: json(request.schema, request.example),
    answer: {
      status: 200,
      description: answer.description,
      headers: callHeaders,
      content: {
        ...json(answer.schema, answer.example),
        ...(event === null ? {} : { 'text/event-stream': event }),
      },
    },
    errors: inferenceErrors,
  }
}

/** Every operation below the version segment, in the order in which readers look for them. */
export const apiDescription: Readonly<Record<string, Described>> = {
  'POST /chat/completions': {
    id: 'createChatCompletion',
    tag: 'Inference',
    summary: 'Create a chat completion',
    description:
      'Streams server-sent events with `stream: true`; usage with its cost is always in the last event.',
    access: 'inference',
    headers: [sessionHeader, metadataHeader, openRouterMetadataHeader],
    body: json(chatRequestSchema, chatExample),
    answer: {
      status: 200,
      description: 'The completion, or its events',
      headers: callHeaders,
      content: {
        ...json(chatAnswerSchema, examples.chatAnswerExample),
        // The schema describes the data of one event.
        'text/event-stream': { schema: chatChunkSchema, example: examples.chatChunkExample },
      },
    },
    errors: textErrors,
  },
  'POST /responses': {
    id: 'createResponse',
    tag: 'Inference',
    summary: 'Create a response',
    description:
      'Nothing is stored: the whole conversation is sent each time. Streams typed events with `stream: true`. A GET with `Upgrade: websocket` opens a WebSocket, over which turns (`response.create`) go on from each other by `previous_response_id` while it lasts.',
    access: 'inference',
    headers: [sessionHeader, metadataHeader, openRouterMetadataHeader],
    body: json(responsesRequestSchema, { model: 'openai/gpt-4o-mini', input: 'Why is the sky blue?' }),
    answer: {
      status: 200,
      description: 'The response, or its events',
      headers: callHeaders,
      content: {
        ...json(responsesAnswerSchema, examples.responsesAnswerExample),
        'text/event-stream': { schema: responsesEventSchema, example: examples.responsesEventExample },
      },
    },
    errors: textErrors,
  },
  'POST /responses/compact': {
    id: 'compactResponse',
    tag: 'Inference',
    summary: 'Compact a conversation',
    description:
      'The model writes a summary of the conversation, which comes sealed as an item of type `compaction`: send it in `input` in the place of the conversation, to any model. It opens for its own organization alone. The words of the user stand before it. Within a response an item `compaction_trigger` at the end of `input` asks for the same.',
    access: 'inference',
    headers: [sessionHeader],
    body: json(responsesRequestSchema, {
      model: 'openai/gpt-4o-mini',
      input: [{ role: 'user', content: 'Why is the sky blue?' }],
    }),
    answer: {
      status: 200,
      description: 'The compacted conversation',
      headers: callHeaders,
      content: json(responsesCompactionSchema, examples.responsesCompactionExample),
    },
    errors: textErrors,
  },
  'POST /messages': {
    id: 'createMessage',
    tag: 'Inference',
    summary: 'Create a message',
    description:
      'Anthropic’s format, for any model. The key may stand in `x-api-key`. Streams events with `stream: true`.',
    access: 'inference',
    headers: [sessionHeader, metadataHeader, openRouterMetadataHeader],
    body: json(messagesRequestSchema, {
      model: 'openai/gpt-4o-mini',
      max_tokens: 200,
      messages: [{ role: 'user', content: 'Why is the sky blue?' }],
    }),
    answer: {
      status: 200,
      description: 'The message, or its events',
      headers: callHeaders,
      content: {
        ...json(messagesAnswerSchema, examples.messagesAnswerExample),
        'text/event-stream': { schema: messagesEventSchema, example: examples.messagesEventExample },
      },
    },
    errors: textErrors,
  },
  'POST /messages/count_tokens': {
    id: 'countTokens',
    tag: 'Inference',
    summary: 'Count the tokens of a message',
    description: 'An estimate before the call, corrected by what answers of the model did use.',
    access: 'inference',
    body: json(messagesRequestSchema, {
      model: 'openai/gpt-4o-mini',
      messages: [{ role: 'user', content: 'Why is the sky blue?' }],
    }),
    answer: {
      status: 200,
      description: 'The tokens of the prompt',
      content: json(z.object({ input_tokens: z.int() }).meta({ id: 'TokenCount' }), { input_tokens: 14 }),
    },
    errors: [400, 401, 402, 403, 404, 413, 429, 500, 503],
  },
  'POST /embeddings': {
    id: 'createEmbeddings',
    tag: 'Inference',
    summary: 'Create embeddings',
    access: 'inference',
    headers: [sessionHeader, metadataHeader, openRouterMetadataHeader],
    body: json(embeddingsRequestSchema, {
      model: 'openai/text-embedding-3-small',
      input: ['first text', 'second text'],
    }),
    answer: {
      status: 200,
      description: 'Vectors in the order of the input',
      headers: callHeaders,
      content: json(embeddingsAnswerSchema, examples.embeddingsAnswerExample),
    },
    errors: inferenceErrors,
  },
  ...describedByFormat,
  'POST /audio/transcriptions': {
    id: 'createTranscription',
    tag: 'Audio',
    summary: 'Transcribe audio into text',
    description:
      'Audio comes as base64, as a file of a form or at an address, of which the provider or the gateway fetches it. The stated format is held against the bytes. With `stream: true` the answer is events; while the transcript is made, comments come every 10 s, and a failure after the first of them is an event with the error.',
    access: 'inference',
    headers: [sessionHeader],
    body: {
      ...json(transcriptionRequestSchema, {
        model: 'openai/whisper-1',
        input_audio: { data: 'UklGRiQAAABXQVZF…', format: 'wav' },
      }),
      'multipart/form-data': {
        schema: transcriptionFormSchema.extend({
          file: z.string().meta({ format: 'binary', description: 'The audio file.' }).optional(),
        }),
      },
    },
    answer: {
      status: 200,
      description: 'The transcript; subtitles and plain text by `Accept`',
      headers: callHeaders,
      content: {
        ...json(transcriptionSchema, { text: 'Hello there.', usage: { cost: 0.0001, seconds: 1 } }),
        // The schema describes the data of one event.
        'text/event-stream': { schema: transcriptEventSchema, example: examples.transcriptEventExample },
        'text/vtt': { schema: { type: 'string' } },
        'application/x-subrip': { schema: { type: 'string' } },
        'text/plain': { schema: { type: 'string' } },
      },
    },
    errors: inferenceErrors,
  },
  'POST /audio/speech': {
    id: 'createSpeech',
    tag: 'Audio',
    summary: 'Synthesize speech from text',
    access: 'inference',
    headers: [sessionHeader],
    body: json(speechRequestSchema, {
      model: 'openai/tts-1',
      input: 'Hello there.',
      voice: 'alloy',
      response_format: 'mp3',
    }),
    answer: {
      status: 200,
      description:
        'Raw audio as it is produced; pcm is 16-bit little-endian mono at 24,000 Hz, and without `response_format` `Accept: audio/wav` makes a WAV file of it and `Accept: audio/mpeg` is mp3',
      headers: callHeaders,
      content: { 'audio/mpeg': bytes, 'audio/pcm': bytes, 'audio/wav': bytes },
    },
    errors: inferenceErrors.filter((status) => status !== 504),
  },
  ...batchDescription,
  ...fileDescription,
  ...messageBatchDescription,
  'GET /organization/settings': {
    id: 'getOrganizationSettings',
    tag: 'Organization',
    summary: 'Read the settings of the organization',
    access: 'management',
    answer: {
      status: 200,
      description: 'The settings',
      content: json(z.object({ data: settingsSchema }), examples.settingsExample),
    },
    errors: [401, 403, 404, 429, 500],
  },
  'PATCH /organization/settings': {
    id: 'updateOrganizationSettings',
    tag: 'Organization',
    summary: 'Update the settings of the organization',
    access: 'management',
    body: json(settingsPatchSchema, { is_filtered_model_catalog_enabled: true }),
    answer: {
      status: 200,
      description: 'The settings as they are now',
      content: json(z.object({ data: settingsSchema }), examples.settingsExample),
    },
    errors: [400, 401, 403, 404, 413, 429, 500],
  },
  ...keyDescription,
  ...peopleDescription,
  'POST /organization/signing-secret': {
    id: 'rotateSigningSecret',
    tag: 'Organization',
    summary: 'Make another secret for the signatures of events',
    description:
      'Events of batches carry `X-OpenRouter-Signature: t=<Unix seconds>,v1=<hex>`, where hex is the HMAC-SHA256 of `<t>,<body>` under this secret. Later tries are signed with the new one.',
    access: 'management',
    answer: {
      status: 201,
      description: 'The secret, shown once',
      content: json(z.object({ data: signingSecretSchema }), examples.signingSecretExample),
    },
    errors: [400, 401, 403, 429, 500],
  },
  'GET /credits': {
    id: 'getCredits',
    tag: 'Account',
    summary: 'Credits bought and used',
    access: 'any',
    answer: {
      status: 200,
      description: 'In credits; 1 credit is 1 USD',
      content: json(creditsSchema, { data: { total_credits: 5, total_usage: 0.25 } }),
    },
    errors: [401, 429, 500, 503],
  },
  'GET /key': {
    id: 'getCurrentKey',
    tag: 'Account',
    summary: 'The key this request was made with, its limits and its use',
    access: 'any',
    answer: {
      status: 200,
      description: 'The key',
      content: json(currentKeySchema, examples.currentKeyExample),
    },
    errors: [401, 429, 500, 503],
  },
  'GET /generation': {
    id: 'getGeneration',
    tag: 'Account',
    summary: 'What one generation used and cost',
    access: 'any',
    query: z.object({ id: z.string() }),
    answer: {
      status: 200,
      description: 'The generation',
      content: json(generationSchema, examples.generationExample),
    },
    errors: readErrors,
  },
  ...insightDescription,
  ...modelDescription,
}
