import { z } from 'zod'
import { type Described, json } from './described.ts'
import {
  createdKeySchema,
  createKeySchema,
  keyListQuerySchema,
  keySchema,
  rotateKeySchema,
  updateKeySchema,
} from './schemas/keys.ts'

const shown = {
  hash: '5f0c31c3e0f3b4f4f0f3c1f6a3f6f1a0a5b9b6d2f8f1c7d9e2a4b6c8d0e2f4a6',
  name: 'ci',
  label: 'sk-hr-v1-nsp...wku',
  disabled: false,
  limit: 5,
  limit_remaining: 4.25,
  limit_reset: 'monthly',
  include_byok_in_limit: false,
  usage: 12.5,
  usage_daily: 0.75,
  usage_weekly: 0.75,
  usage_monthly: 0.75,
  byok_usage: 0,
  byok_usage_daily: 0,
  byok_usage_weekly: 0,
  byok_usage_monthly: 0,
  created_at: '2026-11-21T05:29:22.941Z',
  updated_at: null,
  expires_at: null,
  creator_user_id: null,
  workspace_id: 'ws_default',
  external_user: null,
  headrace: {
    id: 'key_0mw9q2x5tq8fs0k1c9d3e7a2',
    kind: 'inference',
    policy: { allowed_models: ['openai/gpt-4o-mini'] },
    rates: { requests_per_minute: 600, batches_per_minute: null },
  },
}
const secret = 'sk-hr-v1-nsp…wku'
const common = { tag: 'Organization', access: 'management' } as const
const errors = [400, 401, 403, 404, 413, 429, 500]

/** The operations on an organization's keys. */
export const keyDescription: Readonly<Record<string, Described>> = {
  'GET /keys': {
    ...common,
    id: 'listKeys',
    summary: 'List the keys of the organization',
    description:
      'The oldest first. Keys that make calls, unless `kind` names the others; no disabled ones unless asked for.',
    query: keyListQuerySchema,
    answer: {
      status: 200,
      description: 'The keys',
      content: json(z.object({ data: z.array(keySchema) }), { data: [shown] }),
    },
    errors: [400, 401, 403, 404, 429, 500],
  },
  'POST /keys': {
    ...common,
    id: 'createKey',
    summary: 'Create a key',
    body: json(createKeySchema, { name: 'ci', limit: 5, limit_reset: 'monthly' }),
    answer: {
      status: 201,
      description: 'The key and its secret, which no later answer has',
      content: json(createdKeySchema, { data: shown, key: secret }),
    },
    errors,
  },
  'GET /keys/:hash': {
    ...common,
    id: 'getKey',
    summary: 'Read a key',
    answer: {
      status: 200,
      description: 'The key',
      content: json(z.object({ data: keySchema }), { data: shown }),
    },
    errors: [401, 403, 404, 429, 500],
  },
  'PATCH /keys/:hash': {
    ...common,
    id: 'updateKey',
    summary: 'Change a key',
    description: 'Other processes follow within two seconds. A limit of null also removes its reset.',
    body: json(updateKeySchema, { disabled: true }),
    answer: {
      status: 200,
      description: 'The key as it is now',
      content: json(z.object({ data: keySchema }), { data: { ...shown, disabled: true } }),
    },
    errors: [...errors, 409].toSorted((left, right) => left - right),
  },
  'DELETE /keys/:hash': {
    ...common,
    id: 'deleteKey',
    summary: 'Delete a key',
    description: 'What it used stays in the books. The key of the request itself is refused.',
    answer: {
      status: 200,
      description: 'It is gone',
      content: json(z.object({ deleted: z.literal(true) }), { deleted: true }),
    },
    errors: [400, 401, 403, 404, 429, 500],
  },
  'POST /keys/:hash/rotate': {
    ...common,
    id: 'rotateKey',
    summary: 'Give a key another secret',
    description:
      'Its id, limits, rules and usage stay; its hash is that of the new secret. The secret before works for the overlap.',
    body: json(rotateKeySchema, { overlap_seconds: 3600 }),
    answer: {
      status: 200,
      description: 'The key and its new secret, which no later answer has',
      content: json(createdKeySchema, { data: shown, key: secret }),
    },
    errors,
  },
}
