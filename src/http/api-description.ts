import { z } from 'zod'
import { operations } from '../execution/operations.ts'
import type { DescribedOperation } from '../formats/text/text-operation-row.ts'
import { chatAnswerSchema, chatChunkSchema } from '../formats/text/chat/answer-schema.ts'
import { chatRequestSchema } from '../formats/text/chat/request-schema.ts'
import { embeddingsAnswerSchema, embeddingsRequestSchema } from '../formats/embeddings/request-schema.ts'
import { messagesAnswerSchema, messagesEventSchema } from '../formats/text/messages/answer-schema.ts'
import { messagesRequestSchema } from '../formats/text/messages/request-schema.ts'
import { responsesAnswerSchema, responsesEventSchema } from '../formats/text/responses/answer-schema.ts'
import { responsesRequestSchema } from '../formats/text/responses/request-schema.ts'
import { speechRequestSchema } from '../formats/speech/speech-request.ts'
import {
  transcriptionFormSchema,
  transcriptionRequestSchema,
} from '../formats/transcription/transcription-request.ts'
import {
  batchDeletionSchema,
  batchEstimateSchema,
  batchListQuerySchema,
  batchListSchema,
  batchRequestSchema,
  batchResultSchema,
  batchSchema,
  deliveryListSchema,
} from './schemas/batch.ts'
import { creditsSchema, currentKeySchema, generationSchema } from './schemas/account.ts'
import { json, readErrors, type Described } from './described.ts'
import { keyDescription } from './key-description.ts'
import { messageBatchDescription } from './message-batch-description.ts'
import { modelDescription } from './model-description.ts'
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
const sessionHeader = {
  name: 'X-Session-Id',
  description: 'Session identifier, used when the body has none; at most 256 characters.',
}
const callHeaders = [
  { name: 'X-Generation-Id', description: 'Id of the call, for `GET /generation`.' },
  { name: 'X-Provider-Name', description: 'The provider that answered.' },
]
const replayedHeader = {
  name: 'Idempotent-Replayed',
  description: '"true" when the batch was created by an earlier request with the same key.',
}
const inferenceErrors = [400, 401, 402, 403, 404, 413, 429, 500, 502, 503, 504, 524, 529]
/** For operations whose answer may fail to have the requested form. */
const textErrors = [...inferenceErrors, 422].toSorted((a, b) => a - b)
const batchCreationErrors = [400, 401, 402, 403, 404, 409, 413, 422, 429, 500, 502]
const batchErrors = [401, 403, 404, 429, 500, 502]
const chatExample = {
  model: 'openai/gpt-4o-mini',
  messages: [{ role: 'user', content: 'Why is the sky blue?' }],
  max_tokens: 200,
}

/** Operations that their formats describe. */
const describedByFormat = Object.fromEntries(
  Object.values(operations).flatMap(({ path, text }) =>
    text?.described === undefined ? [] : [[`POST ${path}`, describedOf(text.described)]],
  ),
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
      'Nothing is stored: the whole conversation is sent each time. Streams typed events with `stream: true`.',
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
  'POST /batches': {
    id: 'createBatch',
    tag: 'Batches',
    summary: 'Create a batch of requests that runs asynchronously',
    description:
      'Up to 200,000,000 bytes after decompression, members in any order. `?dry_run=true` makes the same checks: it answers 200 with the estimate when the batch would be accepted, else the same refusal, and stores nothing.',
    access: 'inference',
    query: z.object({ dry_run: z.boolean().optional() }),
    headers: [
      {
        name: 'Idempotency-Key',
        description: 'The same key with the same body answers with the same batch for 30 days.',
      },
      { name: 'Content-Encoding', description: 'gzip, zstd, br or deflate.' },
    ],
    body: json(batchRequestSchema, {
      endpoint: '/v1/chat/completions',
      model: 'openai/gpt-4o-mini',
      requests: [{ custom_id: 'first', body: { messages: [{ role: 'user', content: 'Say hello' }] } }],
    }),
    answer: {
      status: 202,
      description: 'The batch, stored and queued',
      headers: [replayedHeader],
      content: json(batchSchema, examples.batchExample),
    },
    others: [
      {
        status: 200,
        description: 'The estimate, with `?dry_run=true`; nothing is stored',
        content: json(batchEstimateSchema, examples.batchEstimateExample),
      },
    ],
    errors: batchCreationErrors,
  },
  'GET /batches': {
    id: 'listBatches',
    tag: 'Batches',
    summary: 'List batches, newest first',
    access: 'inference',
    query: batchListQuerySchema,
    answer: {
      status: 200,
      description: 'A page of batches without results',
      content: json(batchListSchema, examples.batchListExample),
    },
    errors: [400, 401, 403, 429, 500, 502],
  },
  'GET /batches/:id': {
    id: 'getBatch',
    tag: 'Batches',
    summary: 'Read a batch; with its results once it has ended',
    access: 'inference',
    answer: { status: 200, description: 'The batch', content: json(batchSchema, examples.endedBatchExample) },
    others: [
      {
        status: 402,
        description: 'The batch without its results, while what it cost is owed',
        content: json(batchSchema, examples.unpaidBatchExample),
      },
    ],
    errors: batchErrors,
  },
  'GET /batches/:id/results': {
    id: 'getBatchResults',
    tag: 'Batches',
    summary: 'Read results as lines, also while the batch runs',
    description:
      'NDJSON in the order in which results became durable; continue with the `cursor` of the last line.',
    access: 'inference',
    query: z.object({ cursor: z.string().optional().describe('`cursor` of the last line that was read.') }),
    answer: {
      status: 200,
      description: 'One result a line',
      content: {
        'application/x-ndjson': { schema: batchResultSchema, example: examples.batchResultExample },
      },
    },
    errors: [...batchErrors, 400],
  },
  'GET /batches/:id/events': {
    id: 'watchBatch',
    tag: 'Batches',
    summary: 'Watch a batch: its progress as server-sent events',
    description:
      'Events `status`, `progress` and `end`, each with the whole batch (without results) as its data; the stream closes after `end`. States that come and go between two events are left out. While nothing changes, a comment comes every 10 s. A stream lasts an hour at most.',
    access: 'inference',
    headers: [
      {
        name: 'Last-Event-ID',
        description:
          'The `id` of the last event that was read. The batch as it is now follows, unless it is still in that state.',
      },
    ],
    answer: {
      status: 200,
      description: 'The events. The schema is that of their data.',
      content: { 'text/event-stream': { schema: batchSchema, example: examples.batchEventExample } },
    },
    others: [{ status: 204, description: '`Last-Event-ID` names the end: nothing follows', content: {} }],
    errors: batchErrors,
  },
  'POST /batches/:id/cancel': {
    id: 'cancelBatch',
    tag: 'Batches',
    summary: 'Cancel a batch; finished items keep their results',
    access: 'inference',
    answer: {
      status: 200,
      description: 'The batch',
      content: json(batchSchema, examples.cancelledBatchExample),
    },
    errors: [...batchErrors, 409],
  },
  'GET /batches/:id/deliveries': {
    id: 'listBatchDeliveries',
    tag: 'Batches',
    summary: 'How the end of a batch was told to its `callback_url`',
    access: 'inference',
    answer: {
      status: 200,
      description: 'The event with its tries; empty before the end, and for a batch without `callback_url`',
      content: json(deliveryListSchema, examples.deliveryListExample),
    },
    errors: batchErrors,
  },
  'POST /batches/:id/redeliver': {
    id: 'redeliverBatch',
    tag: 'Batches',
    summary: 'Tell the end of a batch again',
    description: 'With the same id and the same bytes, and a day of tries before it is given up.',
    access: 'inference',
    answer: {
      status: 202,
      description: 'The event, to be told now',
      content: json(deliveryListSchema, examples.deliveryListExample),
    },
    errors: [...batchErrors, 409],
  },
  'DELETE /batches/:id': {
    id: 'deleteBatch',
    tag: 'Batches',
    summary: 'Delete a batch that has ended',
    access: 'inference',
    answer: {
      status: 200,
      description: 'What was deleted',
      content: json(batchDeletionSchema, examples.batchDeletionExample),
    },
    errors: [...batchErrors, 409],
  },
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
  ...modelDescription,
}
