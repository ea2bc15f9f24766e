// Generated from the API description by `npm run check -- --fix`; do not edit.

export interface Schemas {
  ChatCompletionRequest: {
    model?: string
    models?: string[] | null
    provider?: Schemas['ProviderPreferences'] | null
    session_id?: string | null
    trace?: {
      trace_id?: string
      trace_name?: string
      span_name?: string
      generation_name?: string
      parent_span_id?: string
    } | null
    route?: string | null
    transforms?: string[] | null
    usage?: Record<string, unknown> | null
    debug?: {
      echo_upstream_body?: boolean | null
    } | null
    plugins?: ({
      id: string
      enabled?: boolean | null
    })[] | null
    preset?: string | null
    stop_server_tools_when?: Record<string, unknown>[] | null
    headrace?: Record<string, unknown> | null
    messages: Schemas['ChatMessage'][]
    temperature?: number | null
    top_p?: number | null
    frequency_penalty?: number | null
    presence_penalty?: number | null
    max_tokens?: number | null
    max_completion_tokens?: number | null
    n?: number | null
    stop?: string | string[] | null
    seed?: number | null
    logit_bias?: Record<string, number> | null
    logprobs?: boolean | null
    top_logprobs?: number | null
    tools?: ({
      type?: string | null
      function?: {
        name: string
        description?: string | null
        parameters?: Record<string, unknown> | null
        strict?: boolean | null
      }
    })[] | null
    tool_choice?: string | {
      type?: string | null
      function?: {
        name: string
      }
    } | null
    parallel_tool_calls?: boolean | null
    response_format?: {
      type: "text" | "json_object" | "json_schema" | "grammar" | "python"
      json_schema?: {
        name?: string | null
        schema?: Record<string, unknown> | null
      } | null
    } | null
    reasoning_effort?: string | null
    verbosity?: "low" | "medium" | "high" | "xhigh" | "max" | null
    stream?: boolean | null
    stream_options?: {
      include_usage?: boolean | null
    } | null
    modalities?: string[] | null
    audio?: Record<string, unknown> | null
    prediction?: Record<string, unknown> | null
    store?: boolean | null
    metadata?: Record<string, string> | null
    service_tier?: "auto" | "default" | "fast" | "flex" | "priority" | "scale" | "on_demand" | null
    web_search_options?: Record<string, unknown> | null
    moderation?: unknown
    prompt_cache_key?: string | null
    prompt_cache_options?: Record<string, unknown> | null
    prompt_cache_retention?: string | null
    safety_identifier?: string | null
    user?: string | null
    functions?: {
      name: string
    }[] | null
    function_call?: string | {
      name: string
    } | null
    top_k?: number | null
    min_p?: number | null
    top_a?: number | null
    repetition_penalty?: number | null
    reasoning?: {
      effort?: string | null
      summary?: string | null
      max_tokens?: number | null
      enabled?: boolean | null
      exclude?: boolean | null
    } | null
    include_reasoning?: boolean | null
    image_config?: Record<string, unknown> | null
    cache_control?: {
      type: string
    } | null
  }
  ProviderPreferences: {
    order?: string[] | null
    only?: string[] | null
    ignore?: string[] | null
    allow_fallbacks?: boolean | null
    require_parameters?: boolean | null
    data_collection?: "allow" | "deny" | null
    zdr?: boolean | null
    enforce_distillable_text?: boolean | null
    quantizations?: ("int4" | "int8" | "fp4" | "mxfp4" | "nvfp4" | "fp6" | "fp8" | "mxfp8" | "fp16" | "bf16" | "fp32" | "unknown")[] | null
    sort?: "price" | "throughput" | "latency" | "exacto" | {
      by?: "price" | "throughput" | "latency" | "exacto" | null
      partition?: "model" | "none" | null
    } | null
    preferred_min_throughput?: number | {
      p50?: number | null
      p75?: number | null
      p90?: number | null
      p99?: number | null
    } | null
    preferred_max_latency?: number | {
      p50?: number | null
      p75?: number | null
      p90?: number | null
      p99?: number | null
    } | null
    max_price?: {
      prompt?: number | string | null
      completion?: number | string | null
      image?: number | string | null
      audio?: number | string | null
      request?: number | string | null
    } | null
    options?: Record<string, Record<string, unknown>> | null
  }
  ChatMessage: {
    role: "system" | "developer" | "user" | "assistant" | "tool" | "function"
    content?: string | ({
      type: "text"
      text: string
    } | {
      type: "image_url"
      image_url: {
        url: string
        detail?: string
      }
    } | {
      type: "input_audio"
      input_audio: {
        data: string
        format: string
      }
    } | {
      type: "file"
      file: {
        file_data?: string
        file_id?: string
        filename?: string
      }
    } | {
      type: "refusal"
      refusal: string
    } | {
      type: string
    })[] | null
    name?: string | null
    refusal?: string | null
    tool_calls?: {
      id: string
      type: string
      function?: {
        name: string
        arguments: string
      }
      custom?: {
        name: string
        input: string
      }
    }[] | null
    tool_call_id?: string | null
    reasoning?: string | null
    reasoning_details?: {
      type: string
    }[] | null
  }
  ChatCompletion: {
    id: string
    object: "chat.completion"
    created: number
    model: string
    provider: string
    system_fingerprint: string | null
    service_tier?: string | null
    choices: ({
      index: number
      message: {
        role: "assistant"
        content: string | null
        refusal: string | null
        reasoning?: string | null
        tool_calls?: {
          index: number
          id: string
          type: string
          function?: {
            name: string
            arguments: string
          }
        }[]
      }
      finish_reason: "stop" | "length" | "tool_calls" | "content_filter" | "error" | null
      native_finish_reason: string | null
      logprobs: {
        content: ({
          token: string
          logprob: number
          bytes: number[] | null
          top_logprobs: ({
            token: string
            logprob: number
            bytes: number[] | null
          })[]
        })[] | null
        refusal: ({
          token: string
          logprob: number
          bytes: number[] | null
          top_logprobs: ({
            token: string
            logprob: number
            bytes: number[] | null
          })[]
        })[] | null
      } | null
    })[]
    usage: Schemas['ChatUsage']
    debug?: {
      echo_upstream_body?: Record<string, unknown>
      timings: {
        start_ms: number
        event: "adapter_request" | "upstream_headers_received" | "first_token_received" | "upstream_body_ended"
        epoch_ms: number
      }
    }
  }
  ChatUsage: {
    prompt_tokens: number
    completion_tokens: number
    total_tokens: number
    prompt_tokens_details?: {
      cached_tokens?: number
      cache_write_tokens?: number
      audio_tokens?: number
    }
    completion_tokens_details?: {
      reasoning_tokens?: number
      audio_tokens?: number
    }
    cache_creation?: {
      ephemeral_5m_input_tokens: number
      ephemeral_1h_input_tokens: number
    }
    cost?: number
    cost_details?: {
      upstream_inference_cost: number | null
      upstream_inference_prompt_cost: number
      upstream_inference_completions_cost: number
    }
    is_byok: boolean
  }
  ChatCompletionChunk: {
    id: string
    object: "chat.completion.chunk"
    created: number
    model: string
    provider: string
    system_fingerprint?: string
    choices: ({
      index: number
      delta: {
        role?: string
        content?: string | null
      }
      finish_reason?: "stop" | "length" | "tool_calls" | "content_filter" | "error" | null
      native_finish_reason?: string | null
    })[]
    usage?: Schemas['ChatUsage']
    debug?: {
      echo_upstream_body?: Record<string, unknown>
      timings: {
        start_ms: number
        event: "adapter_request" | "upstream_headers_received" | "first_token_received" | "upstream_body_ended"
        epoch_ms: number
      }
    }
    error?: {
      code: number
      message: string
      metadata?: Record<string, unknown>
    }
  }
  ResponsesRequest: {
    model?: string
    models?: string[] | null
    provider?: Schemas['ProviderPreferences'] | null
    session_id?: string | null
    user?: string | null
    trace?: {
      trace_id?: string
      trace_name?: string
      span_name?: string
      generation_name?: string
      parent_span_id?: string
    } | null
    include_reasoning?: boolean | null
    route?: string | null
    debug?: {
      echo_upstream_body?: boolean | null
    } | null
    plugins?: ({
      id: string
      enabled?: boolean | null
    })[] | null
    preset?: string | null
    stop_server_tools_when?: Record<string, unknown>[] | null
    headrace?: Record<string, unknown> | null
    input: string | Schemas['ResponsesInputItem'][]
    instructions?: string | null
    max_output_tokens?: number | null
    max_tool_calls?: number | null
    temperature?: number | null
    top_p?: number | null
    top_k?: number | null
    top_logprobs?: number | null
    presence_penalty?: number | null
    frequency_penalty?: number | null
    reasoning?: {
      effort?: string | null
      summary?: string | null
      max_tokens?: number | null
      enabled?: boolean | null
      exclude?: boolean | null
    } | null
    text?: {
      format?: {
        type: string
      } | null
      verbosity?: string | null
    } | null
    tools?: {
      type: string
    }[] | null
    tool_choice?: string | {
      type: string
    } | null
    parallel_tool_calls?: boolean | null
    truncation?: string | null
    modalities?: string[] | null
    image_config?: Record<string, unknown> | null
    include?: string[] | null
    previous_response_id?: string | null
    conversation?: unknown
    prompt?: unknown
    store?: boolean | null
    background?: boolean | null
    metadata?: Record<string, string> | null
    service_tier?: "auto" | "default" | "fast" | "flex" | "priority" | "scale" | "on_demand" | null
    prompt_cache_key?: string | null
    prompt_cache_retention?: string | null
    safety_identifier?: string | null
    stream?: boolean | null
    stream_options?: Record<string, unknown> | null
    cache_control?: {
      type: string
    } | null
  }
  ResponsesInputItem: {
    type?: string
    role?: string
  }
  Response: {
    id: string
    object: "response"
    created_at: number
    completed_at: number | null
    status: "completed" | "incomplete" | "failed" | "in_progress"
    model: string
    provider: string
    output: {
      type: string
      id: string
    }[]
    error: {
      code: string
      message: string
    } | null
    incomplete_details: {
      reason: string
    } | null
    instructions: unknown
    metadata: unknown
    parallel_tool_calls: boolean
    tool_choice: unknown
    tools: unknown[]
    temperature: number | null
    top_p: number | null
    presence_penalty: number | null
    frequency_penalty: number | null
    usage: {
      input_tokens: number
      input_tokens_details: {
        cached_tokens: number
      }
      output_tokens: number
      output_tokens_details: {
        reasoning_tokens: number
      }
      total_tokens: number
      cache_creation?: {
        ephemeral_5m_input_tokens: number
        ephemeral_1h_input_tokens: number
      }
      cost?: number
      is_byok: boolean
    } | null
    debug?: {
      echo_upstream_body?: Record<string, unknown>
      timings: {
        start_ms: number
        event: "adapter_request" | "upstream_headers_received" | "first_token_received" | "upstream_body_ended"
        epoch_ms: number
      }
    }
  }
  ResponseEvent: {
    type: string
    sequence_number: number
  }
  ResponseCompaction: {
    id: string
    object: "response.compaction"
    created_at: number
    output: ({
      type: "message" | "compaction"
    })[]
    usage: {
      input_tokens: number
      input_tokens_details: {
        cached_tokens: number
      }
      output_tokens: number
      output_tokens_details: {
        reasoning_tokens: number
      }
      total_tokens: number
      cache_creation?: {
        ephemeral_5m_input_tokens: number
        ephemeral_1h_input_tokens: number
      }
      cost?: number
      is_byok: boolean
    }
  }
  MessagesRequest: {
    model: string
    models?: string[] | null
    fallbacks?: {
      model: string
    }[] | null
    provider?: Schemas['ProviderPreferences'] | null
    session_id?: string | null
    user?: string | null
    trace?: {
      trace_id?: string
      trace_name?: string
      span_name?: string
      generation_name?: string
      parent_span_id?: string
    } | null
    reasoning?: {
      exclude?: boolean | null
    } | null
    include_reasoning?: boolean | null
    route?: string | null
    plugins?: ({
      id: string
      enabled?: boolean | null
    })[] | null
    preset?: string | null
    stop_server_tools_when?: Record<string, unknown>[] | null
    headrace?: Record<string, unknown> | null
    messages: Schemas['AnthropicMessage'][]
    max_tokens?: number | null
    system?: string | {
      type: string
    }[] | null
    stop_sequences?: string[] | null
    temperature?: number | null
    top_p?: number | null
    top_k?: number | null
    thinking?: {
      type: string
      budget_tokens?: number | null
      display?: string | null
    } | null
    output_config?: {
      effort?: string | null
      format?: {
        type: string
      } | null
    } | null
    tools?: ({
      name?: string | null
      type?: string | null
      description?: string | null
      input_schema?: Record<string, unknown> | null
    })[] | null
    tool_choice?: {
      type: "auto" | "any" | "tool" | "none"
      name?: string | null
      disable_parallel_tool_use?: boolean | null
    } | null
    cache_control?: {
      type: string
    } | null
    metadata?: {
      user_id?: string | null
    } | null
    service_tier?: string | null
    speed?: "fast" | "standard" | null
    context_management?: Record<string, unknown> | null
    stream?: boolean | null
  }
  AnthropicMessage: {
    role: "user" | "assistant" | "system"
    content: string | {
      type: string
    }[]
  }
  Message: {
    id: string
    type: "message"
    role: "assistant"
    model: string
    provider: string
    content: {
      type: string
    }[]
    container: unknown | null
    stop_reason: string | null
    stop_sequence: string | null
    stop_details: {
      type: string
    } | null
    diagnostics: unknown | null
    usage: {
      input_tokens: number
      output_tokens: number
      cache_creation_input_tokens: number
      cache_read_input_tokens: number
      cache_creation: {
        ephemeral_5m_input_tokens: number
        ephemeral_1h_input_tokens: number
      } | null
      output_tokens_details: {
        thinking_tokens: number
      } | null
      server_tool_use: Record<string, unknown> | null
      service_tier: string | null
      inference_geo: string | null
      speed: string | null
      cost?: number
      is_byok: boolean
    }
  }
  MessageEvent: {
    type: string
  }
  TokenCount: {
    input_tokens: number
  }
  EmbeddingsRequest: {
    model: string
    input: string | string[] | number[] | number[][] | {
      content: {
        type: string
      }[]
    }[]
    dimensions?: number | null
    encoding_format?: "float" | "base64" | null
    input_type?: string | null
    user?: string | null
    provider?: Schemas['ProviderPreferences'] | null
    session_id?: string | null
    trace?: {
      trace_id?: string
      trace_name?: string
      span_name?: string
      generation_name?: string
      parent_span_id?: string
    } | null
    models?: string[] | null
    headrace?: Record<string, unknown> | null
  }
  EmbeddingsAnswer: {
    object: "list"
    data: ({
      object: "embedding"
      index: number
      embedding: number[] | string
    })[]
    model: string
    id?: string
    usage: {
      prompt_tokens: number
      total_tokens: number
      cost?: number
      cost_details?: {
        upstream_inference_cost: number | null
        upstream_inference_prompt_cost: number
        upstream_inference_completions_cost: number
      }
      is_byok: boolean
    }
  }
  CompletionsRequest: {
    model: string
    prompt: string | string[] | number[] | number[][]
    n?: number | null
    stream?: boolean | null
    stream_options?: {
      include_usage?: boolean | null
    } | null
    frequency_penalty?: number | null
    logit_bias?: Record<string, number> | null
    max_tokens?: number | null
    min_p?: number | null
    presence_penalty?: number | null
    repetition_penalty?: number | null
    seed?: number | null
    stop?: string | string[] | null
    temperature?: number | null
    top_k?: number | null
    top_p?: number | null
    best_of?: number | null
    echo?: boolean | null
    logprobs?: number | null
    suffix?: string | null
    user?: string | null
    provider?: Schemas['ProviderPreferences'] | null
    session_id?: string | null
    trace?: {
      trace_id?: string
      trace_name?: string
      span_name?: string
      generation_name?: string
      parent_span_id?: string
    } | null
    models?: string[] | null
    headrace?: Record<string, unknown> | null
  }
  Completion: {
    id: string
    object: "text_completion"
    created: number
    model: string
    provider: string
    choices: ({
      text: string
      index: number
      logprobs: Record<string, unknown> | null
      finish_reason: string | null
    })[]
    usage?: {
      prompt_tokens: number
      completion_tokens: number
      total_tokens: number
      cost?: number
      cost_details?: {
        upstream_inference_cost: number | null
        upstream_inference_prompt_cost: number
        upstream_inference_completions_cost: number
      }
      is_byok: boolean
    }
  }
  CompletionEvent: {
    id: string
    object: "text_completion"
    created: number
    model: string
    provider: string
    choices: ({
      text: string
      index: number
      logprobs: Record<string, unknown> | null
      finish_reason: string | null
    })[]
    usage?: {
      prompt_tokens: number
      completion_tokens: number
      total_tokens: number
      cost?: number
      cost_details?: {
        upstream_inference_cost: number | null
        upstream_inference_prompt_cost: number
        upstream_inference_completions_cost: number
      }
      is_byok: boolean
    }
  }
  RerankRequest: {
    model: string
    query: string
    documents: (string | {
      text?: string
      image?: string
    })[]
    top_n?: number | null
    return_documents?: boolean | null
    max_tokens_per_doc?: number | null
    user?: string | null
    provider?: Schemas['ProviderPreferences'] | null
    session_id?: string | null
    trace?: {
      trace_id?: string
      trace_name?: string
      span_name?: string
      generation_name?: string
      parent_span_id?: string
    } | null
    models?: string[] | null
    headrace?: Record<string, unknown> | null
  }
  RerankAnswer: {
    id: string
    model: string
    provider: string
    results: {
      index: number
      relevance_score: number
      document?: {
        text?: string
        image?: string
      }
    }[]
    usage: {
      search_units?: number
      total_tokens?: number
      cost?: number
      is_byok: boolean
    }
  }
  Transcription: {
    text: string
    usage?: {
      cost?: number
      input_tokens?: number
      output_tokens?: number
      total_tokens?: number
      seconds?: number
    }
    task?: string
    language?: string
    duration?: number
    language_confidence?: number
    confidence?: number
    segments?: {
      id: number
      start: number
      end: number
      text: string
      speaker?: number
      speaker_label?: string
    }[]
    words?: {
      word: string
      start: number
      end: number
      confidence?: number
      speaker?: number
      speaker_label?: string
    }[]
    entities?: {
      text: string
      type: string
      start_char: number
      end_char: number
    }[]
    headrace_metadata?: {
      dropped: string[]
    }
  }
  TranscriptEvent: {
    type: "transcript.text.delta"
    delta: string
  } | {
    type: "transcript.text.segment"
    id: string
    start: number
    end: number
    text: string
    speaker: string
  } | {
    type: "transcript.text.done"
    text: string
  } | {
    type: "error"
    error: {
      code: number
      message: string
    }
  }
  CreateBatch: {
    endpoint: "/v1/chat/completions" | "/v1/responses" | "/v1/messages" | "/v1/embeddings"
    model: string
    completion_window?: "24h"
    provider?: {
      only?: string[] | null
    } | null
    headrace?: {
      lane?: "auto" | "native" | "flex" | "emulated" | null
      max_cost?: number
    }
    callback_url?: string | null
    requests: {
      custom_id: string
      body: Record<string, unknown>
    }[]
  }
  Batch: {
    id: string
    object: "batch"
    endpoint: "/v1/chat/completions" | "/v1/responses" | "/v1/messages" | "/v1/embeddings"
    model: string
    completion_window: "24h"
    status: "validating" | "in_progress" | "finalizing" | "completed" | "failed" | "expired" | "cancelling" | "cancelled"
    created_at: number
    finalized_at: number | null
    expires_at: number | null
    request_counts: {
      total: number
      completed: number
      failed: number
    }
    usage: Schemas['BatchUsage'] | null
    results: Schemas['BatchResult'][] | null
    error: {
      code?: number
      message: string
    } | null
    provider: string | null
    headrace_metadata?: {
      lane: "native" | "flex" | "emulated"
      models?: ({
        model: string
        items: number
        lane: "native" | "flex" | "emulated"
      })[]
      moved?: ({
        from: "native" | "flex" | "emulated"
        to: "native" | "flex" | "emulated"
        reason: string
        items: number
      })[]
      jobs?: ({
        state: "preparing" | "running" | "collecting" | "ended"
        items: number
        ended_as?: string
        stray_lines?: number
        left?: number
      })[]
      dropped?: string[]
      waiting?: {
        type: string
        message: string
        items?: number
        since?: number
        next_try_at?: number
        causes?: {
          type: string
          message: string
          items?: number
          since?: number
          next_try_at?: number
        }[]
      }
    }
  }
  BatchUsage: {
    prompt_tokens: number
    completion_tokens: number
    total_tokens: number
    completion_tokens_details?: Record<string, number | null> | null
    prompt_tokens_details?: Record<string, number | null> | null
    server_tool_use?: Record<string, number | null> | null
    cost?: number | null
    cost_details?: Record<string, number | null>
    is_byok?: boolean
    service_tier?: string | null
    cache_creation?: Record<string, number | null>
    speed?: string | null
  }
  BatchResult: {
    id: string
    custom_id: string
    response: {
      status_code: number
      request_id: string | null
      body: Record<string, unknown>
    } | null
    error: {
      type: string
      message: string
      param: string | null
      error_type?: string
    } | null
    cursor?: string
  }
  BatchEstimate: {
    object: "batch.estimate"
    endpoint: "/v1/chat/completions" | "/v1/responses" | "/v1/messages" | "/v1/embeddings"
    model: string
    lane: "native" | "flex" | "emulated"
    provider: string | null
    total: number
    estimate: number
    worst_case: number
    lanes: ({
      lane: "native" | "flex" | "emulated"
      estimate: number
      worst_case: number
    })[]
    available: number | null
  }
  DeliveryList: {
    object: "list"
    data: ({
      id: string
      event: string
      state: "waiting" | "delivered" | "failed"
      created_at: number
      next_try_at: number | null
      ended_at: number | null
      tries: number
      log: ({
        try: number
        at: number
        duration_ms: number
        status: number | null
        problem: string | null
      })[]
    })[]
  }
  File: {
    _shape: "openrouter"
    id: string
    type: "file"
    filename: string
    mime_type: string
    size_bytes: number
    created_at: string
    downloadable: boolean
  }
  FileList: {
    _shape: "openrouter"
    data: Schemas['File'][]
    cursor: string | null
    first_id: string | null
    last_id: string | null
    has_more: boolean
  }
  FileDeletion: {
    _shape: "openrouter"
    id: string
    type: "file_deleted"
  }
  CreateMessageBatch: {
    requests: {
      custom_id: string
      params: {
        model: string
      }
    }[]
  }
  MessageBatch: {
    id: string
    type: "message_batch"
    processing_status: "in_progress" | "canceling" | "ended"
    request_counts: {
      processing: number
      succeeded: number
      errored: number
      canceled: number
      expired: number
    }
    ended_at: string | null
    created_at: string
    expires_at: string
    archived_at: null
    cancel_initiated_at: string | null
    results_url: string | null
  }
  MessageBatchResult: {
    custom_id: string
    result: {
      type: "succeeded" | "errored" | "canceled" | "expired"
    }
  }
  OrganizationSettings: {
    id: string
    is_filtered_model_catalog_enabled: boolean
  }
  UpdateOrganizationSettings: {
    is_filtered_model_catalog_enabled: boolean
  }
  Key: {
    hash: string
    name: string
    label: string
    disabled: boolean
    limit: number | null
    limit_remaining: number | null
    limit_reset: string | null
    include_byok_in_limit: boolean
    usage: number
    usage_daily: number
    usage_weekly: number
    usage_monthly: number
    byok_usage: number
    byok_usage_daily: number
    byok_usage_weekly: number
    byok_usage_monthly: number
    created_at: string
    updated_at: string | null
    expires_at: string | null
    creator_user_id: string | null
    workspace_id: string
    external_user: string | null
    headrace: {
      id: string
      kind: "inference" | "management"
      policy: {
        allowed_models?: string[] | null
        ignored_models?: string[] | null
        allowed_providers?: string[] | null
        ignored_providers?: string[] | null
        enforce_zdr?: boolean | null
        deny_data_collection?: boolean | null
      }
      rates: {
        requests_per_minute?: number | null
        batches_per_minute?: number | null
        tokens_per_minute?: number | null
      }
    }
  }
  CreateKey: {
    name: string
    limit?: number | null
    limit_reset?: "daily" | "weekly" | "monthly" | null
    expires_at?: string | null
    include_byok_in_limit?: false | null
    workspace_id?: string
    creator_user_id?: null
    external?: null
    headrace?: {
      kind?: "inference" | "management"
      policy?: {
        allowed_models?: string[] | null
        ignored_models?: string[] | null
        allowed_providers?: string[] | null
        ignored_providers?: string[] | null
        enforce_zdr?: boolean | null
        deny_data_collection?: boolean | null
      }
      rates?: {
        requests_per_minute?: number | null
        batches_per_minute?: number | null
        tokens_per_minute?: number | null
      }
    }
  }
  UpdateKey: {
    name?: string
    disabled?: boolean
    limit?: number | null
    limit_reset?: "daily" | "weekly" | "monthly" | null
    expires_at?: string | null
    include_byok_in_limit?: false | null
    headrace?: {
      policy?: {
        allowed_models?: string[] | null
        ignored_models?: string[] | null
        allowed_providers?: string[] | null
        ignored_providers?: string[] | null
        enforce_zdr?: boolean | null
        deny_data_collection?: boolean | null
      }
      rates?: {
        requests_per_minute?: number | null
        batches_per_minute?: number | null
        tokens_per_minute?: number | null
      }
    }
  }
  RotateKey: {
    overlap_seconds?: number
  }
  Member: {
    id: string
    email: string
    first_name: string | null
    last_name: string | null
    role: "org:admin" | "org:member"
    headrace: {
      role: "viewer" | "member" | "admin"
      state: "active" | "invited" | "key"
      has_password: boolean
      created_at: string
      joined_at: string | null
      playground: {
        key_id: string
        limit: number | null
        limit_reset: string | null
      }
    }
  }
  InviteMember: {
    email: string
    first_name?: string | null
    last_name?: string | null
    role: "viewer" | "member" | "admin"
  }
  UpdateMember: {
    role?: "viewer" | "member" | "admin"
    playground?: {
      limit?: number | null
      limit_reset?: "daily" | "weekly" | "monthly" | null
    }
  }
  SignIn: {
    link?: string
    email?: string
    password?: string
    management_key?: string
  }
  Session: {
    id: string
    opened_by: "link" | "password" | "key"
    created_at: string
    last_used_at: string
    idle_expires_at: string
    expires_at: string
    role: "viewer" | "member" | "admin"
    person: {
      id: string
      email: string
      first_name: string | null
      last_name: string | null
      has_password: boolean
    }
    organization: {
      id: string
      name: string
      account_mode: "prepaid" | "tracked"
      is_filtered_model_catalog_enabled: boolean
    }
    playground: {
      key_id: string
      limit: number | null
      limit_reset: string | null
      limit_remaining: number | null
    }
    allowed: string[]
    version: string
  }
  UpdatePerson: {
    email?: string
    first_name?: string | null
    last_name?: string | null
  }
  SetPassword: {
    password: string
    current_password?: string
    email?: string
  }
  ListedSession: {
    id: string
    is_current: boolean
    opened_by: "link" | "password" | "key"
    created_at: string
    last_used_at: string
    idle_expires_at: string
    expires_at: string
    user_agent: string | null
    address: string
    person: {
      id: string
      email: string
      first_name: string | null
      last_name: string | null
    }
  }
  SigningSecret: {
    signing_secret: string
  }
  CurrentKey: {
    label: string
    is_management_key: boolean
    is_provisioning_key: boolean
    is_free_tier: boolean
    limit: number | null
    limit_remaining: number | null
    limit_reset: string | null
    include_byok_in_limit: boolean
    usage: number
    usage_daily: number
    usage_weekly: number
    usage_monthly: number
    byok_usage: number
    byok_usage_daily: number
    byok_usage_weekly: number
    byok_usage_monthly: number
    allowed_data_regions: string[]
    free_model_daily_requests: {
      limit: number
      remaining: number
      used: number
    }
    creator_user_id: string | null
    organization_id: string | null
    workspace_id: string | null
    expires_at?: string | null
    rate_limit: {
      requests: number
      interval: string
      note: string
    }
  }
  Generation: {
    id: string
    api_type: "completions" | "embeddings" | "stt" | "tts" | "rerank" | null
    model: string
    provider_name: string | null
    created_at: string
    total_cost: number
    usage: number
    is_byok: boolean
    finish_reason: string | null
    native_finish_reason: string | null
    streamed: boolean | null
    cancelled: boolean | null
    latency: number | null
    generation_time: number | null
    tokens_prompt: number | null
    tokens_completion: number | null
  }
  ActivityItem: {
    date: string
    model: string
    model_permaslug: string
    endpoint_id: string
    provider_name: string
    usage: number
    byok_usage_inference: number
    requests: number
    prompt_tokens: number
    completion_tokens: number
    reasoning_tokens: number
    workspace_id?: string
  }
  Spend: {
    from: string
    to: string
    bucket: "15m" | "hour" | "day" | "week" | "month"
    zone: string
    by: string
    buckets: string[]
    total: {
      cost_nanocredits: string
      charged_requests: number
      requests: number
      errors: number
      p50_ms: number | null
      p95_ms: number | null
      prompt_tokens: number
      completion_tokens: number
    }
    before: {
      cost_nanocredits: string
      charged_requests: number
      requests: number
      errors: number
      p50_ms: number | null
      p95_ms: number | null
      prompt_tokens: number
      completion_tokens: number
    }
    over_time: {
      cost_nanocredits: string[]
      requests: number[]
      errors: number[]
      p50_ms: (number | null)[]
      p95_ms: (number | null)[]
    }
    groups: ({
      id: string | null
      name: string
      is_other: boolean
      cost_nanocredits: string
      charged_requests: number
      requests: number
      errors: number | null
      p50_ms: number | null
      p95_ms: number | null
      prompt_tokens: number
      completion_tokens: number
      over_time: {
        cost_nanocredits: string[]
        requests: number[]
        errors: (number | null)[]
        p50_ms: (number | null)[]
        p95_ms: (number | null)[]
      }
    })[]
    warnings: string[]
  }
  LoggedRequest: {
    id: string
    generation_id: string | null
    created_at: string
    outcome: "answered" | "refused" | "failed" | "cancelled"
    status: number
    error_type: string | null
    operation: string | null
    model: string | null
    provider: string | null
    provider_name: string | null
    deployment: string | null
    key_id: string | null
    key_name: string | null
    user: string | null
    session_id: string | null
    batch_id: string | null
    streamed: boolean
    attempts: number
    prompt_tokens: number
    completion_tokens: number
    first_byte_ms: number | null
    total_ms: number
    cost_nanocredits: string | null
    is_estimated: boolean
  }
  LoggedRequestStory: {
    id: string
    generation_id: string | null
    created_at: string
    outcome: "answered" | "refused" | "failed" | "cancelled"
    status: number
    error_type: string | null
    operation: string | null
    model: string | null
    provider: string | null
    provider_name: string | null
    deployment: string | null
    key_id: string | null
    key_name: string | null
    user: string | null
    session_id: string | null
    batch_id: string | null
    streamed: boolean
    attempts: ({
      number: number
      deployment: string
      provider_name: string
      model: string
      outcome: "answered" | "failed" | "cancelled"
      status: number | null
      error_type: string | null
      started_ms: number
      headers_ms: number | null
      first_token_ms: number | null
      ended_ms: number | null
      message: string | null
    })[]
    prompt_tokens: number
    completion_tokens: number
    first_byte_ms: number | null
    total_ms: number
    cost_nanocredits: string | null
    is_estimated: boolean
    client_address: string | null
    hold: {
      amount_nanocredits: string
    } | null
    marks: {
      event: string
      attempt?: number
      ms: number
    }[]
    excluded: {
      provider: string
      model: string
      step: string
      reason: string
    }[]
    finish_reason: string | null
    usage: {
      prompt_tokens: number
      completion_tokens: number
      cached_tokens: number
      reasoning_tokens: number
      audio_seconds: number
      characters: number
    } | null
    postings: Schemas['Posting'][]
    has_content: boolean
  }
  Posting: {
    transaction_id: string
    kind: string
    account: string
    amount_nanocredits: string
    created_at: string
    reference: string | null
  }
  DeploymentHealth: {
    id: string
    provider: string
    provider_name: string
    state: "healthy" | "failing" | "cooling_down" | "out" | "unknown"
    since: string | null
    next_try_at: string | null
    last_error: {
      type: string
      status: number
      message: string | null
      at: string
    } | null
    models: number
    running: number
    waiting: number
    limit: number | null
    last_30m: {
      requests: number
      errors: number
      p50_ms: number | null
    }
    next: string | null
    processes: ({
      id: string
      state: "healthy" | "failing" | "cooling_down" | "out"
      at: string
    })[]
  }
  System: {
    version: string
    database: string
    schema_version: number
    now: string
    is_sandbox: boolean
    processes: {
      id: string
      host: string
      pid: number
      version: string
      role: string
      started_at: string
      seen_at: string
      requests_running: number
      storage_queue: number
      captures_queued: number
      log_queued: number
      log_dropped: number
    }[]
    queues: {
      batches_open: number
      items_waiting: number
      oldest_waiting_seconds: number | null
      deliveries_waiting: number
      oldest_delivery_seconds: number | null
    }
    request_log: {
      is_on: boolean
      days: number
      oldest_at: string | null
    }
  }
  Model: {
    id: string
    object: "model"
    owned_by: string
    canonical_slug: string
    name: string
    created: number
    description?: string
    context_length: number | null
    architecture: {
      modality: string | null
      input_modalities: string[]
      output_modalities: string[]
      tokenizer: string
    }
    pricing: {
      prompt: string
      completion: string
    }
    top_provider: {
      is_moderated: boolean
    }
    per_request_limits: unknown | null
    supported_parameters: string[]
    default_parameters: unknown | null
    supported_voices: string[] | null
    links: {
      details: string
    }
    expiration_date?: string
    headrace?: {
      pricing_rules: {
        prompt_unit?: "utf8_byte"
        minimum_seconds?: number
        round_to_seconds?: number
        per_channel?: true | "when_asked"
        surcharges?: {
          diarize?: {
            percent: number | null
            per_second: string | null
            minimum_seconds?: number
          }
          keyterms?: {
            percent: number | null
            per_second: string | null
            minimum_seconds?: number
          }
          entities?: {
            percent: number | null
            per_second: string | null
            minimum_seconds?: number
          }
          transcript_edit?: {
            percent: number | null
            per_second: string | null
            minimum_seconds?: number
          }
          speaker_roles?: {
            percent: number | null
            per_second: string | null
            minimum_seconds?: number
          }
        }
      }
    }
  }
  ModelEndpoints: {
    id: string
    name: string
    created: number
    description: string
    architecture: {
      modality: string | null
      input_modalities: string[]
      output_modalities: string[]
      tokenizer: string
      instruct_type: string | null
    }
    endpoints: Schemas['Endpoint'][]
  }
  Endpoint: {
    name: string
    model_id: string
    model_name: string
    context_length: number
    pricing: {
      prompt: string
      completion: string
    }
    provider_name: string
    tag: string
    quantization: string | null
    max_completion_tokens: number | null
    max_prompt_tokens: number | null
    supported_parameters: string[]
    supports_implicit_caching: boolean
    supports_tool_choice: {
      auto: boolean
      function: boolean
      none: boolean
      required: boolean
    }
    latency_last_30m: {
      p50: number
      p75: number
      p90: number
      p99: number
    } | null
    throughput_last_30m: {
      p50: number
      p75: number
      p90: number
      p99: number
    } | null
    uptime_last_5m: number | null
    uptime_last_30m: number | null
    uptime_last_1d: number | null
    headrace?: {
      pricing_rules: {
        prompt_unit?: "utf8_byte"
        minimum_seconds?: number
        round_to_seconds?: number
        per_channel?: true | "when_asked"
        surcharges?: {
          diarize?: {
            percent: number | null
            per_second: string | null
            minimum_seconds?: number
          }
          keyterms?: {
            percent: number | null
            per_second: string | null
            minimum_seconds?: number
          }
          entities?: {
            percent: number | null
            per_second: string | null
            minimum_seconds?: number
          }
          transcript_edit?: {
            percent: number | null
            per_second: string | null
            minimum_seconds?: number
          }
          speaker_roles?: {
            percent: number | null
            per_second: string | null
            minimum_seconds?: number
          }
        }
      }
    }
  }
  Provider: {
    name: string
    slug: string
    privacy_policy_url: string | null
  }
}

export interface Operations {
  'POST /chat/completions': {
    query: Record<never, never>
    body: Schemas['ChatCompletionRequest']
    answer: Schemas['ChatCompletion']
  }
  'POST /responses': {
    query: Record<never, never>
    body: Schemas['ResponsesRequest']
    answer: Schemas['Response']
  }
  'POST /responses/compact': {
    query: Record<never, never>
    body: Schemas['ResponsesRequest']
    answer: Schemas['ResponseCompaction']
  }
  'POST /messages': {
    query: Record<never, never>
    body: Schemas['MessagesRequest']
    answer: Schemas['Message']
  }
  'POST /messages/count_tokens': {
    query: Record<never, never>
    body: Schemas['MessagesRequest']
    answer: Schemas['TokenCount']
  }
  'POST /embeddings': {
    query: Record<never, never>
    body: Schemas['EmbeddingsRequest']
    answer: Schemas['EmbeddingsAnswer']
  }
  'POST /completions': {
    query: Record<never, never>
    body: Schemas['CompletionsRequest']
    answer: Schemas['Completion']
  }
  'POST /rerank': {
    query: Record<never, never>
    body: Schemas['RerankRequest']
    answer: Schemas['RerankAnswer']
  }
  'POST /audio/transcriptions': {
    query: Record<never, never>
    body: {
      model: string
      provider?: Schemas['ProviderPreferences'] | null
      session_id?: string
      user?: string
      trace?: Record<string, unknown>
      language?: string
      temperature?: number
      response_format?: "json" | "verbose_json"
      timestamp_granularities?: ("word" | "segment")[]
      diarize?: boolean
      stream?: boolean | null
      keyterms?: string[]
      input_audio: {
        data?: string
        url?: string
        format?: string
      }
    }
    answer: Schemas['Transcription']
  }
  'POST /audio/speech': {
    query: Record<never, never>
    body: {
      model: string
      provider?: Schemas['ProviderPreferences'] | null
      session_id?: string
      user?: string
      trace?: Record<string, unknown>
      input: string
      voice?: string
      stream_format?: "audio" | null
      response_format?: "mp3" | "pcm"
      speed?: number
      input_references?: ({
        type: "input_audio"
        input_audio: {
          data?: string
          url?: string
          format?: string
        }
      } | {
        type: "text"
        text: string
      } | {
        type: "image_url"
        image_url: {
          url: string
        }
      })[]
    }
    answer: null
  }
  'POST /batches': {
    query: { dry_run?: boolean }
    body: Schemas['CreateBatch']
    answer: Schemas['BatchEstimate'] | Schemas['Batch']
  }
  'GET /batches': {
    query: { limit?: number; after?: string; status?: string[]; created_after?: string; created_before?: string }
    body: undefined
    answer: {
      object: "list"
      data: Schemas['Batch'][]
      first_id: string | null
      last_id: string | null
      has_more: boolean
    }
  }
  'GET /batches/{id}': {
    query: Record<never, never>
    body: undefined
    answer: Schemas['Batch']
  }
  'DELETE /batches/{id}': {
    query: Record<never, never>
    body: undefined
    answer: {
      id: string
      object: "batch"
      deletion: Record<string, unknown>
    }
  }
  'GET /batches/{id}/results': {
    query: { cursor?: string }
    body: undefined
    answer: null
  }
  'GET /batches/{id}/events': {
    query: Record<never, never>
    body: undefined
    answer: null
  }
  'POST /batches/{id}/cancel': {
    query: Record<never, never>
    body: undefined
    answer: Schemas['Batch']
  }
  'GET /batches/{id}/deliveries': {
    query: Record<never, never>
    body: undefined
    answer: Schemas['DeliveryList']
  }
  'POST /batches/{id}/redeliver': {
    query: Record<never, never>
    body: undefined
    answer: Schemas['DeliveryList']
  }
  'POST /batches/{id}/retry': {
    query: { dry_run?: boolean }
    body: undefined
    answer: Schemas['BatchEstimate'] | Schemas['Batch']
  }
  'POST /files': {
    query: Record<never, never>
    body: undefined
    answer: Schemas['File']
  }
  'GET /files': {
    query: { limit?: number; cursor?: string }
    body: undefined
    answer: Schemas['FileList']
  }
  'GET /files/{id}': {
    query: Record<never, never>
    body: undefined
    answer: Schemas['File']
  }
  'DELETE /files/{id}': {
    query: Record<never, never>
    body: undefined
    answer: Schemas['FileDeletion']
  }
  'GET /files/{id}/content': {
    query: Record<never, never>
    body: undefined
    answer: null
  }
  'POST /messages/batches': {
    query: Record<never, never>
    body: Schemas['CreateMessageBatch']
    answer: Schemas['MessageBatch']
  }
  'GET /messages/batches': {
    query: { limit?: number; after_id?: string; before_id?: string }
    body: undefined
    answer: {
      data: Schemas['MessageBatch'][]
      has_more: boolean
      first_id: string | null
      last_id: string | null
    }
  }
  'GET /messages/batches/{id}': {
    query: Record<never, never>
    body: undefined
    answer: Schemas['MessageBatch']
  }
  'DELETE /messages/batches/{id}': {
    query: Record<never, never>
    body: undefined
    answer: {
      id: string
      type: "message_batch_deleted"
    }
  }
  'GET /messages/batches/{id}/results': {
    query: Record<never, never>
    body: undefined
    answer: null
  }
  'POST /messages/batches/{id}/cancel': {
    query: Record<never, never>
    body: undefined
    answer: Schemas['MessageBatch']
  }
  'GET /organization/settings': {
    query: Record<never, never>
    body: undefined
    answer: {
      data: Schemas['OrganizationSettings']
    }
  }
  'PATCH /organization/settings': {
    query: Record<never, never>
    body: Schemas['UpdateOrganizationSettings']
    answer: {
      data: Schemas['OrganizationSettings']
    }
  }
  'GET /keys': {
    query: { include_disabled?: "true" | "false"; offset?: number; limit?: number; workspace_id?: string; kind?: "inference" | "management" | "all" }
    body: undefined
    answer: {
      data: Schemas['Key'][]
    }
  }
  'POST /keys': {
    query: Record<never, never>
    body: Schemas['CreateKey']
    answer: {
      data: Schemas['Key']
      key: string
    }
  }
  'GET /keys/{hash}': {
    query: Record<never, never>
    body: undefined
    answer: {
      data: Schemas['Key']
    }
  }
  'PATCH /keys/{hash}': {
    query: Record<never, never>
    body: Schemas['UpdateKey']
    answer: {
      data: Schemas['Key']
    }
  }
  'DELETE /keys/{hash}': {
    query: Record<never, never>
    body: undefined
    answer: {
      deleted: true
    }
  }
  'POST /keys/{hash}/rotate': {
    query: Record<never, never>
    body: Schemas['RotateKey']
    answer: {
      data: Schemas['Key']
      key: string
    }
  }
  'GET /organization/members': {
    query: { offset?: number; limit?: number; include?: "all" }
    body: undefined
    answer: {
      data: Schemas['Member'][]
      total_count: number
    }
  }
  'POST /headrace/members': {
    query: Record<never, never>
    body: Schemas['InviteMember']
    answer: {
      data: Schemas['Member']
      link: string
      expires_at: string
    }
  }
  'POST /headrace/members/{id}/link': {
    query: Record<never, never>
    body: undefined
    answer: {
      link: string
      expires_at: string
    }
  }
  'PATCH /headrace/members/{id}': {
    query: Record<never, never>
    body: Schemas['UpdateMember']
    answer: {
      data: Schemas['Member']
    }
  }
  'DELETE /headrace/members/{id}': {
    query: Record<never, never>
    body: undefined
    answer: {
      deleted: true
    }
  }
  'POST /headrace/session': {
    query: Record<never, never>
    body: Schemas['SignIn']
    answer: {
      data: Schemas['Session']
    }
  }
  'GET /headrace/session': {
    query: Record<never, never>
    body: undefined
    answer: {
      data: Schemas['Session']
    }
  }
  'PATCH /headrace/session': {
    query: Record<never, never>
    body: Schemas['UpdatePerson']
    answer: {
      data: Schemas['Session']
    }
  }
  'DELETE /headrace/session': {
    query: Record<never, never>
    body: undefined
    answer: {
      deleted: true
    }
  }
  'POST /headrace/session/password': {
    query: Record<never, never>
    body: Schemas['SetPassword']
    answer: {
      data: Schemas['Session']
    }
  }
  'GET /headrace/sessions': {
    query: { offset?: number; limit?: number; all?: "true" | "false" }
    body: undefined
    answer: {
      data: Schemas['ListedSession'][]
    }
  }
  'DELETE /headrace/sessions': {
    query: { member_id?: string }
    body: undefined
    answer: {
      deleted: true
      count: number
    }
  }
  'DELETE /headrace/sessions/{id}': {
    query: Record<never, never>
    body: undefined
    answer: {
      deleted: true
    }
  }
  'POST /organization/signing-secret': {
    query: Record<never, never>
    body: undefined
    answer: {
      data: Schemas['SigningSecret']
    }
  }
  'GET /credits': {
    query: Record<never, never>
    body: undefined
    answer: {
      data: {
        total_credits: number
        total_usage: number
      }
    }
  }
  'GET /key': {
    query: Record<never, never>
    body: undefined
    answer: {
      data: Schemas['CurrentKey']
    }
  }
  'GET /generation': {
    query: { id?: string }
    body: undefined
    answer: {
      data: Schemas['Generation']
    }
  }
  'GET /generation/content': {
    query: { id?: string }
    body: undefined
    answer: {
      data: {
        input: Record<string, unknown>
        output: {
          completion: string | null
          reasoning: string | null
        }
        error: unknown | null
      }
    }
  }
  'POST /generation/feedback': {
    query: Record<never, never>
    body: {
      generation_id: string
      category: "latency" | "incoherence" | "incorrect_response" | "formatting" | "billing" | "api_error" | "other"
      comment?: string | null
    }
    answer: {
      data: {
        success: true
      }
    }
  }
  'GET /activity': {
    query: { date?: string; api_key_hash?: string; user_id?: string; workspace_id?: string; group_by?: "workspace" }
    body: undefined
    answer: {
      data: Schemas['ActivityItem'][]
    }
  }
  'GET /analytics/meta': {
    query: Record<never, never>
    body: undefined
    answer: {
      data: {
        metrics: ({
          name: string
          display_label: string
          display_format: "number" | "currency" | "percent" | "latency" | "throughput"
          is_rate: boolean
        })[]
        dimensions: {
          name: string
          display_label: string
        }[]
        granularities: {
          name: string
          display_label: string
        }[]
        operators: ({
          name: string
          value_type: "scalar" | "array"
        })[]
      }
    }
  }
  'POST /analytics/query': {
    query: Record<never, never>
    body: {
      metrics: ("usage" | "request_count" | "tokens_prompt" | "tokens_completion" | "tokens_total" | "tokens_reasoning" | "audio_seconds" | "characters" | "error_count" | "error_rate" | "latency_p50" | "latency_p95")[]
      dimensions?: ("model" | "provider" | "api_key_id" | "workspace" | "user")[]
      granularity?: "hour" | "day" | "week" | "month"
      time_range?: {
        start: string
        end: string
      }
      filters?: ({
        field: "model" | "provider" | "api_key_id" | "workspace" | "user"
        operator: "eq" | "neq" | "in" | "not_in"
        value: string | number | (string | number)[]
        include_unset?: boolean
      })[]
      order_by?: {
        field: string
        direction: "asc" | "desc"
      }
      limit?: number
      group_limit?: number
      headrace?: {
        time_zone?: string
        format?: "json" | "csv"
      }
    }
    answer: {
      data: {
        data: (Record<string, string | number | null>)[]
        metadata: {
          query_time_ms: number
          row_count: number
          truncated: boolean
        }
        warnings: string[]
      }
    }
  }
  'GET /headrace/spend': {
    query: { from?: string; to?: string; bucket?: "15m" | "hour" | "day" | "week" | "month"; zone?: string; by?: "model" | "key" | "provider" | "user" | "none"; top?: number; model?: string; key?: string; provider?: string }
    body: undefined
    answer: {
      data: Schemas['Spend']
    }
  }
  'GET /headrace/spend/ledger': {
    query: { from?: string; to?: string }
    body: undefined
    answer: {
      data: {
        from: string
        to: string
        rollups_nanocredits: string
        ledger_nanocredits: string
        equals: boolean
      }
    }
  }
  'GET /headrace/requests': {
    query: { from?: string; to?: string; outcome?: string; status?: string; model?: string; provider?: string; key?: string; user?: string; session?: string; error_type?: string; operation?: string; batch?: string; id?: string; order?: "desc" | "asc"; limit?: number; cursor?: string }
    body: undefined
    answer: {
      data: Schemas['LoggedRequest'][]
      next_cursor: string | null
      searched_to: string | null
    }
  }
  'GET /headrace/requests/export': {
    query: { from?: string; to?: string; outcome?: string; status?: string; model?: string; provider?: string; key?: string; user?: string; session?: string; error_type?: string; operation?: string; batch?: string; format?: "csv" | "ndjson" }
    body: undefined
    answer: null
  }
  'GET /headrace/requests/anonymous': {
    query: { from?: string; to?: string; limit?: number }
    body: undefined
    answer: {
      data: {
        minute: string
        client_address: string
        requests: number
      }[]
    }
  }
  'GET /headrace/requests/{id}': {
    query: Record<never, never>
    body: undefined
    answer: {
      data: Schemas['LoggedRequestStory']
    }
  }
  'GET /headrace/ledger/balance': {
    query: Record<never, never>
    body: undefined
    answer: {
      data: {
        account_mode: "prepaid" | "tracked"
        granted_nanocredits: string
        captured_nanocredits: string
        held_nanocredits: string | null
        balance_nanocredits: string | null
      }
    }
  }
  'GET /headrace/ledger/postings': {
    query: { from?: string; to?: string; kind?: string; transaction?: string; limit?: number; cursor?: string }
    body: undefined
    answer: {
      data: Schemas['Posting'][]
      next_cursor: string | null
      searched_to: string | null
    }
  }
  'GET /headrace/ledger/postings/export': {
    query: { from?: string; to?: string; kind?: string; format?: "csv" | "ndjson" }
    body: undefined
    answer: null
  }
  'GET /headrace/deployments': {
    query: Record<never, never>
    body: undefined
    answer: {
      data: Schemas['DeploymentHealth'][]
    }
  }
  'GET /headrace/system': {
    query: Record<never, never>
    body: undefined
    answer: {
      data: Schemas['System']
    }
  }
  'GET /headrace/doctor': {
    query: Record<never, never>
    body: undefined
    answer: {
      data: {
        checked_at: string
        problems: number
        warnings: number
        findings: ({
          level: "ok" | "warning" | "problem"
          subject: string
          message: string
          next: string | null
        })[]
      }
    }
  }
  'GET /models': {
    query: { offset?: string; limit?: string; q?: string; output_modalities?: string; input_modalities?: string; supported_parameters?: string; model_authors?: string; providers?: string; context?: string; min_price?: string; max_price?: string; min_output_price?: string; max_output_price?: string; min_age_days?: string; max_age_days?: string; zdr?: "true" | "false"; region?: "eu" | "us"; sort?: string }
    body: undefined
    answer: {
      data: Schemas['Model'][]
      total_count: number
      links: {
        next: string | null
      }
    }
  }
  'GET /models/user': {
    query: { offset?: string; limit?: string; q?: string; output_modalities?: string; input_modalities?: string; supported_parameters?: string; model_authors?: string; providers?: string; context?: string; min_price?: string; max_price?: string; min_output_price?: string; max_output_price?: string; min_age_days?: string; max_age_days?: string; zdr?: "true" | "false"; region?: "eu" | "us"; sort?: string }
    body: undefined
    answer: {
      data: Schemas['Model'][]
      total_count: number
      links: {
        next: string | null
      }
    }
  }
  'GET /models/count': {
    query: { offset?: string; limit?: string; q?: string; output_modalities?: string; input_modalities?: string; supported_parameters?: string; model_authors?: string; providers?: string; context?: string; min_price?: string; max_price?: string; min_output_price?: string; max_output_price?: string; min_age_days?: string; max_age_days?: string; zdr?: "true" | "false"; region?: "eu" | "us"; sort?: string }
    body: undefined
    answer: {
      data: {
        count: number
      }
    }
  }
  'GET /models/{id}/endpoints': {
    query: Record<never, never>
    body: undefined
    answer: {
      data: Schemas['ModelEndpoints']
    }
  }
  'GET /models/{id}': {
    query: Record<never, never>
    body: undefined
    answer: Schemas['Model']
  }
  'GET /embeddings/models': {
    query: { offset?: string; limit?: string; q?: string; output_modalities?: string; input_modalities?: string; supported_parameters?: string; model_authors?: string; providers?: string; context?: string; min_price?: string; max_price?: string; min_output_price?: string; max_output_price?: string; min_age_days?: string; max_age_days?: string; zdr?: "true" | "false"; region?: "eu" | "us"; sort?: string }
    body: undefined
    answer: {
      data: Schemas['Model'][]
      total_count: number
      links: {
        next: string | null
      }
    }
  }
  'GET /providers': {
    query: Record<never, never>
    body: undefined
    answer: {
      data: Schemas['Provider'][]
    }
  }
  'GET /endpoints/zdr': {
    query: Record<never, never>
    body: undefined
    answer: {
      data: Schemas['Endpoint'][]
    }
  }
  'GET /model/{id}': {
    query: Record<never, never>
    body: undefined
    answer: {
      data: Schemas['Model']
    }
  }
}
