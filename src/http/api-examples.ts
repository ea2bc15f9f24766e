/** The answers in the API description; a test checks each against the schema of its operation. */

const usage = {
  prompt_tokens: 14,
  completion_tokens: 9,
  total_tokens: 23,
  prompt_tokens_details: { cached_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0 },
  cost: 0.0000075,
  cost_details: {
    upstream_inference_cost: 0.0000075,
    upstream_inference_prompt_cost: 0.0000021,
    upstream_inference_completions_cost: 0.0000054,
  },
  is_byok: false,
}

/** Answer of `POST /chat/completions` that is not streamed. */
export const chatAnswerExample = {
  id: 'gen-1795238962-rmcm4d547nndx6rglpnu',
  object: 'chat.completion',
  created: 1795238962,
  model: 'openai/gpt-4o-mini',
  provider: 'OpenAI',
  system_fingerprint: null,
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'Air scatters blue light more than red.', refusal: null },
      finish_reason: 'stop',
      native_finish_reason: 'stop',
      logprobs: null,
    },
  ],
  usage,
}

/** One event of a streamed answer. */
export const chatChunkExample = {
  id: 'gen-1795238962-rmcm4d547nndx6rglpnu',
  object: 'chat.completion.chunk',
  created: 1795238962,
  model: 'openai/gpt-4o-mini',
  provider: 'OpenAI',
  choices: [{ index: 0, delta: { content: 'Air' }, finish_reason: null }],
}

/** Answer of `POST /responses/compact`. */
export const responsesCompactionExample = {
  id: 'gen-1795238962-rmcm4d547nndx6rglpnu',
  object: 'response.compaction',
  created_at: 1795238962,
  output: [
    {
      type: 'message',
      role: 'user',
      content: [{ type: 'input_text', text: 'Why is the sky blue?' }],
    },
    {
      id: 'cmp_gen-1795238962-rmcm4d547nndx6rglpnu',
      type: 'compaction',
      encrypted_content: 'hrc1.v1.kpNYaT3c9bR7w2lq',
    },
  ],
  usage: {
    input_tokens: 112,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: 38,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 150,
    cost: 0.0000396,
    is_byok: false,
  },
}

/** Answer of `POST /responses` that is not streamed. */
export const responsesAnswerExample = {
  id: 'gen-1795238962-rmcm4d547nndx6rglpnu',
  object: 'response',
  created_at: 1795238962,
  completed_at: 1795238963,
  status: 'completed',
  model: 'openai/gpt-4o-mini',
  provider: 'OpenAI',
  output: [
    {
      id: 'msg_gen-1795238962-rmcm4d547nndx6rglpnu-0',
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [
        {
          type: 'output_text',
          text: 'Air scatters blue light more than red.',
          annotations: [],
          logprobs: [],
        },
      ],
    },
  ],
  error: null,
  incomplete_details: null,
  instructions: null,
  metadata: {},
  parallel_tool_calls: true,
  tool_choice: 'auto',
  tools: [],
  temperature: 1,
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  usage: {
    input_tokens: 14,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 9,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 23,
    cost: 0.0000075,
    is_byok: false,
  },
}

/** One event of a streamed response. */
export const responsesEventExample = {
  type: 'response.output_text.delta',
  sequence_number: 4,
  item_id: 'msg_gen-1795238962-rmcm4d547nndx6rglpnu-0',
  output_index: 0,
  content_index: 0,
  delta: 'Air',
  logprobs: [],
}

/** Answer of `POST /messages` that is not streamed. */
export const messagesAnswerExample = {
  id: 'gen-1795238962-rmcm4d547nndx6rglpnu',
  type: 'message',
  role: 'assistant',
  model: 'openai/gpt-4o-mini',
  provider: 'OpenAI',
  content: [{ type: 'text', text: 'Air scatters blue light more than red.', citations: null }],
  container: null,
  stop_reason: 'end_turn',
  stop_sequence: null,
  stop_details: null,
  diagnostics: null,
  usage: {
    input_tokens: 14,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    cache_creation: null,
    output_tokens: 9,
    output_tokens_details: null,
    server_tool_use: null,
    service_tier: null,
    inference_geo: null,
    speed: null,
    cost: 0.0000075,
    is_byok: false,
  },
}

/** One event of a streamed message. */
export const messagesEventExample = {
  type: 'content_block_delta',
  index: 0,
  delta: { type: 'text_delta', text: 'Air' },
}

/** Answer of `POST /embeddings`. */
export const embeddingsAnswerExample = {
  object: 'list',
  data: [
    { object: 'embedding', index: 0, embedding: [0.12, -0.53, 0.84] },
    { object: 'embedding', index: 1, embedding: [0.07, -0.61, 0.79] },
  ],
  model: 'openai/text-embedding-3-small',
  usage: { prompt_tokens: 4, total_tokens: 4, cost: 0.00000008, is_byok: false },
}

const batch = {
  id: 'batch_0mwpyxelazynp554vnoitpl0',
  object: 'batch',
  endpoint: '/v1/chat/completions',
  model: 'openai/gpt-4o-mini',
  completion_window: '24h',
  status: 'validating',
  created_at: 1795238964,
  finalized_at: null,
  expires_at: 1795325364,
  provider: 'openai',
  request_counts: { total: 2, completed: 0, failed: 0 },
  usage: null,
  results: null,
  error: null,
  headrace_metadata: { lane: 'emulated' },
}

/** Answer of `POST /batches`, and of a poll before the end. */
export const batchExample = batch

const failure = {
  type: 'context_length_exceeded',
  message: 'The request does not fit the context of openai/gpt-4o-mini.',
  param: null,
  error_type: 'context_length_exceeded',
}

const results = [
  {
    id: 'batch_req_0mwpyxelazynp554vnoitpl0_0',
    custom_id: 'first',
    response: { status_code: 200, request_id: 'req_0mwpyxelvow56dioa4wqsrfo', body: chatAnswerExample },
    error: null,
  },
  { id: 'batch_req_0mwpyxelazynp554vnoitpl0_1', custom_id: 'second', response: null, error: failure },
]

/** Answer of `GET /batches/{id}` once the batch has ended. */
export const endedBatchExample = {
  ...batch,
  status: 'completed',
  finalized_at: 1795238981,
  request_counts: { total: 2, completed: 1, failed: 1 },
  usage,
  results,
}

/** The same while its costs are owed. */
export const unpaidBatchExample = {
  ...endedBatchExample,
  results: null,
  error: {
    code: 402,
    message: 'The batch cost more than the balance. Add credits and ask again for the results.',
  },
}

/** Answer of `POST /batches?dry_run=true`. */
export const batchEstimateExample = {
  object: 'batch.estimate',
  endpoint: batch.endpoint,
  model: batch.model,
  lane: 'emulated',
  provider: batch.provider,
  total: 2,
  estimate: 0.0006,
  worst_case: 0.0197,
  lanes: [{ lane: 'emulated', estimate: 0.0006, worst_case: 0.0197 }],
  available: 5,
}

/** Answer of `POST /batches/{id}/cancel`. */
export const cancelledBatchExample = { ...batch, status: 'cancelling' }

/** Data of an event of `GET /batches/{id}/events`. */
export const batchEventExample = {
  ...batch,
  status: 'in_progress',
  request_counts: { total: 2, completed: 1, failed: 0 },
}

/** Answer of `GET /batches`. */
export const batchListExample = {
  object: 'list',
  data: [batch],
  first_id: batch.id,
  last_id: batch.id,
  has_more: false,
}

/** One line of `GET /batches/{id}/results`. */
export const batchResultExample = { ...results[1], cursor: '1-1' }

/** Answer of `DELETE /batches/{id}`; the member's name is the contract's. */
export const batchDeletionExample = { id: batch.id, object: 'batch', deletion: { openrouter: 'deleted' } }

/** Answer of `GET /batches/{id}/deliveries`. */
export const deliveryListExample = {
  object: 'list',
  data: [
    {
      id: `${batch.id}-completed`,
      event: 'batch.completed',
      state: 'delivered',
      created_at: 1795238981,
      next_try_at: null,
      ended_at: 1795238982,
      tries: 1,
      log: [{ try: 1, at: 1795238982, duration_ms: 84, status: 200, problem: null }],
    },
  ],
}

/** Answer of `POST /organization/signing-secret`. */
export const signingSecretExample = {
  data: { signing_secret: 'whsec_4ukr9c6j2n8hgqk1f5zv0b7yxw3mdtpeas4ukr9c6j2n8hgq' },
}

/** Answer of both settings operations. */
export const settingsExample = { data: { id: 'org_default', is_filtered_model_catalog_enabled: true } }

/** Answer of `GET /key`. */
export const currentKeyExample = {
  data: {
    label: 'sk-hr-v1-nsp...wku',
    is_management_key: false,
    is_provisioning_key: false,
    is_free_tier: false,
    limit: 5,
    limit_remaining: 4.25,
    limit_reset: 'daily',
    include_byok_in_limit: false,
    usage: 12.5,
    usage_daily: 0.75,
    usage_weekly: 3.5,
    usage_monthly: 12.5,
    byok_usage: 0,
    byok_usage_daily: 0,
    byok_usage_weekly: 0,
    byok_usage_monthly: 0,
    allowed_data_regions: ['global'],
    free_model_daily_requests: { limit: 0, remaining: 0, used: 0 },
    creator_user_id: null,
    organization_id: 'org_default',
    workspace_id: null,
    expires_at: null,
    rate_limit: { requests: 600, interval: '60s', note: 'Deprecated by the contract.' },
  },
}

/** Answer of `GET /generation`. */
export const generationExample = {
  data: {
    id: 'gen-1795238962-rmcm4d547nndx6rglpnu',
    api_type: 'completions',
    model: 'openai/gpt-4o-mini',
    provider_name: 'OpenAI',
    created_at: '2026-11-21T05:29:22.941Z',
    total_cost: 0.0000075,
    usage: 0.0000075,
    is_byok: false,
    finish_reason: 'stop',
    native_finish_reason: 'stop',
    streamed: true,
    cancelled: false,
    latency: 320,
    generation_time: 910,
    tokens_prompt: 14,
    tokens_completion: 9,
  },
}

const model = {
  id: 'openai/gpt-4o-mini',
  object: 'model',
  owned_by: 'openai',
  canonical_slug: 'openai/gpt-4o-mini',
  name: 'gpt 4o mini',
  created: 1721260800,
  context_length: 128000,
  architecture: {
    modality: 'text+image->text',
    input_modalities: ['text', 'image'],
    output_modalities: ['text'],
    tokenizer: 'Other',
  },
  pricing: { prompt: '0.00000015', completion: '0.0000006' },
  top_provider: { is_moderated: false, context_length: 128000, max_completion_tokens: 16384 },
  per_request_limits: null,
  supported_parameters: ['max_tokens', 'temperature', 'tools'],
  default_parameters: null,
  supported_voices: null,
  links: { details: '/api/v1/model/openai/gpt-4o-mini' },
}

/** Answer of `GET /model/{author}/{slug}`. */
export const modelExample = { data: model }

/** Answer of the model lists. */
export const modelListExample = { data: [model], total_count: 1, links: { next: null } }

const endpoint = {
  name: 'OpenAI | openai/gpt-4o-mini',
  model_id: 'openai/gpt-4o-mini',
  model_name: 'gpt 4o mini',
  context_length: 128000,
  pricing: { prompt: '0.00000015', completion: '0.0000006' },
  provider_name: 'OpenAI',
  tag: 'openai',
  quantization: null,
  max_completion_tokens: 16384,
  max_prompt_tokens: null,
  supported_parameters: ['max_tokens', 'temperature', 'tool_choice', 'tools'],
  supports_implicit_caching: true,
  supports_tool_choice: { auto: true, function: true, none: true, required: true },
  supports_voice_cloning: false,
  supports_multiple_audio_references: false,
  supports_image_reference: false,
  latency_last_30m: { p50: 310, p75: 420, p90: 600, p99: 1800 },
  throughput_last_30m: { p50: 85, p75: 90, p90: 96, p99: 101 },
  uptime_last_5m: 100,
  uptime_last_30m: 99.5,
  uptime_last_1d: null,
}

/** Answer of `GET /models/{author}/{slug}/endpoints`. */
export const modelEndpointsExample = {
  data: {
    id: model.id,
    name: model.name,
    created: model.created,
    description: '',
    architecture: { ...model.architecture, instruct_type: null },
    endpoints: [endpoint],
  },
}

/** Answer of `GET /endpoints/zdr`. */
export const zdrEndpointsExample = { data: [endpoint] }

/** Answer of `GET /providers`. */
export const providersExample = { data: [{ name: 'OpenAI', slug: 'openai', privacy_policy_url: null }] }

/** Data of the last event of a streamed transcription. */
export const transcriptEventExample = {
  type: 'transcript.text.done',
  text: 'Hello there.',
  usage: { cost: 0.0001, seconds: 1 },
}
