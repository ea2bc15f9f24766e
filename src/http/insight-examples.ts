const minute = '2026-11-24T09:00:00.000Z'
const nextMinute = '2026-11-24T09:01:00.000Z'
const dayBegins = '2026-11-23T00:00:00.000Z'
const dayEnds = '2026-11-24T00:00:00.000Z'
const generation = 'gen-1764000000-k3v9q2x5tq8fs0k1c9d3'
const owner = 'host-1:4242:k3v9q2'

const call = {
  id: 'req_01kavm8y5ek3v9q2x5tq8fs0k1',
  generation_id: generation,
  created_at: minute,
  outcome: 'answered',
  status: 200,
  error_type: null,
  operation: 'chat_completions',
  model: 'openai/gpt-4.1-mini',
  provider: 'openai',
  provider_name: 'OpenAI',
  deployment: 'openai',
  key_id: 'key_01kavm8y5ek3v9q2x5tq8fs0k1',
  key_name: 'Backend',
  user: 'customer-17',
  session_id: null,
  batch_id: null,
  streamed: true,
  attempts: 1,
  prompt_tokens: 1_000,
  completion_tokens: 250,
  first_byte_ms: 310,
  total_ms: 1_840,
  cost_nanocredits: '800000',
  is_estimated: false,
}
const charge = {
  transaction_id: generation,
  kind: 'capture',
  account: 'organization:org_01kavm8y5e',
  amount_nanocredits: '-800000',
  created_at: minute,
  reference: generation,
}
const figures = {
  cost_nanocredits: '800000',
  charged_requests: 1,
  requests: 2,
  errors: 1,
  p50_ms: 1_840,
  p95_ms: 1_840,
  prompt_tokens: 1_000,
  completion_tokens: 250,
}
const before = {
  ...figures,
  cost_nanocredits: '0',
  charged_requests: 0,
  requests: 0,
  errors: 0,
  p50_ms: null,
  p95_ms: null,
  prompt_tokens: 0,
  completion_tokens: 0,
}
const overTime = {
  cost_nanocredits: ['800000'],
  requests: [2],
  errors: [1],
  p50_ms: [1_840],
  p95_ms: [1_840],
}

/** Examples of what the log, the sums, the ledger and the state of the gateway answer. */
export const insightExamples = {
  content: {
    data: {
      input: { messages: [{ role: 'user', content: 'Say hello.' }] },
      output: { completion: 'Hello.', reasoning: null },
      error: null,
    },
  },
  activity: {
    data: [
      {
        date: '2026-11-23',
        model: 'openai/gpt-4.1-mini',
        model_permaslug: 'openai/gpt-4.1-mini',
        endpoint_id: 'openai',
        provider_name: 'OpenAI',
        usage: 0.0008,
        byok_usage_inference: 0,
        requests: 1,
        prompt_tokens: 1_000,
        completion_tokens: 250,
        reasoning_tokens: 0,
      },
    ],
  },
  analyticsMeta: {
    data: {
      metrics: [
        {
          name: 'request_count',
          display_label: 'Charged requests',
          display_format: 'number',
          is_rate: false,
        },
      ],
      dimensions: [{ name: 'model', display_label: 'Model' }],
      granularities: [{ name: 'day', display_label: 'Day' }],
      operators: [{ name: 'in', value_type: 'array' }],
    },
  },
  analytics: {
    data: {
      data: [
        {
          date: '2026-11-23T00:00:00+01:00',
          model: 'openai/gpt-4.1-mini',
          usage: 0.0008,
          usage_nanocredits: '800000',
          request_count: 1,
        },
      ],
      metadata: { query_time_ms: 12, row_count: 1, truncated: false },
      warnings: [],
    },
  },
  spend: {
    data: {
      from: dayBegins,
      to: dayEnds,
      bucket: 'day',
      zone: 'UTC',
      by: 'model',
      buckets: [dayBegins],
      total: figures,
      before,
      over_time: overTime,
      groups: [
        {
          id: 'openai/gpt-4.1-mini',
          name: 'openai/gpt-4.1-mini',
          is_other: false,
          ...figures,
          over_time: overTime,
        },
      ],
      warnings: [],
    },
  },
  spendLedger: {
    data: {
      from: dayBegins,
      to: dayEnds,
      rollups_nanocredits: '800000',
      ledger_nanocredits: '800000',
      equals: true,
    },
  },
  requests: { data: [call], next_cursor: null, searched_to: minute },
  anonymous: { data: [{ minute, client_address: '203.0.113.7', requests: 12 }] },
  request: {
    data: {
      ...call,
      client_address: '203.0.113.7',
      hold: { amount_nanocredits: '1200000' },
      marks: [
        { event: 'received', ms: 0 },
        { event: 'ended', ms: 1_840 },
      ],
      attempts: [
        {
          number: 1,
          deployment: 'openai',
          provider_name: 'OpenAI',
          model: 'gpt-4.1-mini',
          outcome: 'answered',
          status: 200,
          error_type: null,
          started_ms: 4,
          headers_ms: 290,
          first_token_ms: 310,
          ended_ms: 1_838,
          message: null,
        },
      ],
      excluded: [],
      finish_reason: 'stop',
      usage: {
        prompt_tokens: 1_000,
        completion_tokens: 250,
        cached_tokens: 0,
        reasoning_tokens: 0,
        audio_seconds: 0,
        characters: 0,
      },
      postings: [charge, { ...charge, account: 'income:usage', amount_nanocredits: '800000' }],
      has_content: false,
    },
  },
  balance: {
    data: {
      account_mode: 'prepaid',
      granted_nanocredits: '10000000000',
      captured_nanocredits: '800000',
      held_nanocredits: '0',
      balance_nanocredits: '9999200000',
    },
  },
  postings: { data: [charge], next_cursor: null, searched_to: minute },
  deployments: {
    data: [
      {
        id: 'openai',
        provider: 'openai',
        provider_name: 'OpenAI',
        state: 'healthy',
        since: minute,
        next_try_at: null,
        last_error: null,
        models: 40,
        running: 3,
        waiting: 0,
        limit: 64,
        last_30m: { requests: 120, errors: 1, p50_ms: 1_500 },
        next: null,
        processes: [{ id: owner, state: 'healthy', at: nextMinute }],
      },
    ],
  },
  system: {
    data: {
      version: '0.1.0',
      database: 'sqlite',
      schema_version: 21,
      now: nextMinute,
      is_sandbox: false,
      processes: [
        {
          id: owner,
          host: 'host-1',
          pid: 4_242,
          version: '0.1.0',
          role: 'serve',
          started_at: minute,
          seen_at: nextMinute,
          requests_running: 3,
          storage_queue: 0,
          captures_queued: 0,
          log_queued: 0,
          log_dropped: 0,
        },
      ],
      queues: {
        batches_open: 0,
        items_waiting: 0,
        oldest_waiting_seconds: null,
        deliveries_waiting: 0,
        oldest_delivery_seconds: null,
      },
      request_log: { is_on: true, days: 30, oldest_at: minute },
    },
  },
  doctor: {
    data: {
      checked_at: nextMinute,
      problems: 1,
      warnings: 0,
      findings: [
        {
          level: 'problem',
          subject: 'providers',
          message: 'All calls of OpenAI failed lately.',
          next: 'Look at its last error in GET /headrace/deployments.',
        },
      ],
    },
  },
} as const
