create table organizations (
  organization_id text primary key,
  name text not null,
  account_mode text not null check (account_mode in ('prepaid', 'tracked')),
  is_filtered_model_catalog_enabled integer not null default 0,
  policy_json text not null default '{}',
  rate_json text not null default '{}',
  created_at_ms bigint not null,
  deleted_at_ms bigint
)
--;;
create table api_keys (
  key_hash text primary key,
  key_id text not null unique,
  organization_id text not null references organizations (organization_id),
  kind text not null check (kind in ('inference', 'management')),
  name text not null,
  label text not null,
  disabled integer not null default 0,
  limit_nanocredits bigint,
  limit_reset text,
  policy_json text not null default '{}',
  rate_json text not null default '{}',
  expires_at_ms bigint,
  created_at_ms bigint not null,
  updated_at_ms bigint
)
--;;
create index api_keys_organization on api_keys (organization_id, created_at_ms)
--;;
create table budgets (
  budget_id text primary key,
  kind text not null check (kind in ('credits', 'key_limit', 'batch')),
  organization_id text not null,
  subject_id text not null,
  window_start_ms bigint not null default 0,
  limit_nanocredits bigint not null,
  granted_nanocredits bigint not null default 0,
  spent_nanocredits bigint not null default 0,
  recall_at_ms bigint not null default 0,
  parents_json text not null default '[]',
  closed integer not null default 0,
  created_at_ms bigint not null
)
--;;
create index budgets_organization on budgets (organization_id)
--;;
create index budgets_subject on budgets (subject_id)
--;;
create table leases (
  lease_id text primary key,
  budget_id text not null references budgets (budget_id),
  owner_id text not null,
  epoch bigint not null,
  granted_nanocredits bigint not null,
  captured_nanocredits bigint not null default 0,
  held_nanocredits bigint not null default 0,
  expires_at_ms bigint not null,
  held_until_ms bigint not null,
  state text not null check (state in ('open', 'draining', 'closed')),
  created_at_ms bigint not null
)
--;;
create index leases_budget on leases (budget_id) where state <> 'closed'
--;;
create index leases_owner on leases (owner_id)
--;;
create index leases_expiry on leases (expires_at_ms) where state <> 'closed'
--;;
create table prices (
  price_id text primary key,
  price_json text not null
)
--;;
create table usages (
  day bigint not null,
  generation_id text not null,
  organization_id text not null,
  key_id text not null,
  batch_id text,
  custom_id text,
  operation text not null,
  model text not null,
  provider text not null,
  endpoint_id text not null,
  status text not null,
  is_estimated integer not null,
  is_unpriced integer not null,
  input_tokens bigint,
  cached_input_tokens bigint,
  cache_write_tokens bigint,
  output_tokens bigint,
  reasoning_tokens bigint,
  audio_milliseconds bigint,
  characters bigint,
  cost_nanocredits bigint not null,
  held_nanocredits bigint not null,
  price_id text not null,
  upstream_id text,
  finish_reason text,
  native_finish_reason text,
  streamed integer not null,
  cancelled integer not null,
  latency_ms bigint,
  generation_ms bigint,
  session_id text,
  user_id text,
  request_id text,
  details_json text not null default '{}',
  created_at_ms bigint not null,
  primary key (day, generation_id)
) {{filed_by_day}}
--;;
create index usages_organization on usages (organization_id, created_at_ms)
--;;
create index usages_batch on usages (batch_id) where batch_id is not null
--;;
-- Kinds are compared one by one: SQLite builds a table for a list of more than two, with every row inserted.
create table postings (
  day bigint not null,
  transaction_id text not null,
  account text not null,
  amount_nanocredits bigint not null,
  created_at_ms bigint not null,
  kind text not null check (kind = 'capture' or kind = 'grant' or kind = 'refund' or kind = 'correction'),
  reference text,
  primary key (account, day, transaction_id)
) {{filed_by_day}}
--;;
create table usage_tail (
  tail_id {{row_number}},
  organization_id text not null,
  hour bigint not null,
  key_id text not null,
  model text not null,
  provider text not null,
  requests bigint not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  reasoning_tokens bigint not null,
  audio_milliseconds bigint not null,
  characters bigint not null,
  cost_nanocredits bigint not null,
  estimated_count bigint not null
)
--;;
create table usage_rollups (
  organization_id text not null,
  hour bigint not null,
  key_id text not null,
  model text not null,
  provider text not null,
  requests bigint not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  reasoning_tokens bigint not null,
  audio_milliseconds bigint not null,
  characters bigint not null,
  cost_nanocredits bigint not null,
  estimated_count bigint not null,
  primary key (organization_id, hour, key_id, model, provider)
)
--;;
create table usage_days (
  subject text not null,
  day bigint not null,
  cost_nanocredits bigint not null,
  primary key (subject, day)
)
--;;
create table rollup_cursors (
  name text primary key,
  position bigint not null,
  moved_at_ms bigint not null
)
--;;
insert into rollup_cursors (name, position, moved_at_ms) values ('usages', 0, 0)
--;;
create table usage_dead_letters (
  generation_id text primary key,
  payload_json text not null,
  reason text not null,
  created_at_ms bigint not null
)
--;;
create table rate_windows (
  rate_id text primary key,
  tat_us bigint not null,
  updated_at_ms bigint not null
)
--;;
create table batches (
  batch_id text primary key,
  organization_id text not null,
  key_id text not null,
  endpoint text not null,
  model text not null,
  provider_json text,
  completion_window text not null,
  status text not null,
  lane text not null,
  created_at_ms bigint not null,
  started_at_ms bigint,
  finalized_at_ms bigint,
  expires_at_ms bigint not null,
  total_items bigint not null,
  completed_items bigint not null default 0,
  failed_items bigint not null default 0,
  estimate_nanocredits bigint not null,
  worst_case_nanocredits bigint not null,
  max_cost_nanocredits bigint,
  budget_id text,
  usage_json text,
  error_json text,
  metadata_json text not null default '{}',
  results_blob text,
  results_index_blob text,
  request_bytes bigint not null,
  idempotency_id text,
  deleted_at_ms bigint,
  epoch bigint not null default 0,
  owner_id text,
  owner_until_ms bigint not null default 0,
  cancel_requested_at_ms bigint,
  provider_slug text
)
--;;
create index batches_organization on batches (organization_id, created_at_ms, batch_id)
--;;
create index batches_running on batches (status) where status not in ('completed', 'failed', 'expired', 'cancelled')
--;;
create table segments (
  batch_id text not null,
  ordinal bigint not null,
  first_item bigint not null,
  item_count bigint not null,
  blob text not null,
  blob_bytes bigint not null,
  state text not null check (state in ('pending', 'running', 'done')),
  owner_id text,
  epoch bigint not null default 0,
  lease_until_ms bigint not null default 0,
  done_bitmap {{bytes}} not null,
  done_count bigint not null default 0,
  failed_count bigint not null default 0,
  merged_blob text,
  merged_index_json text,
  primary key (batch_id, ordinal)
)
--;;
create index segments_state on segments (state, lease_until_ms)
--;;
create table parts (
  part_id text primary key,
  batch_id text not null,
  segment_ordinal bigint not null,
  epoch bigint not null,
  sequence bigint not null,
  item_count bigint not null,
  blob text,
  inline_body {{bytes}},
  bytes bigint not null,
  created_at_ms bigint not null,
  unique (batch_id, sequence)
)
--;;
create index parts_segment on parts (batch_id, segment_ordinal)
--;;
create table idempotency_keys (
  claim_id text primary key,
  organization_id text not null,
  route text not null,
  owner_id text not null,
  state text not null check (state in ('claimed', 'done')),
  body_sha256 text,
  reference_id text,
  created_at_ms bigint not null,
  expires_at_ms bigint not null
)
--;;
create index idempotency_keys_expiry on idempotency_keys (expires_at_ms)
--;;
create table blob_deletions (
  blob text primary key,
  due_at_ms bigint not null
)
--;;
create index blob_deletions_due on blob_deletions (due_at_ms)
--;;
create table model_stats (
  organization_id text not null,
  model text not null,
  sample_count bigint not null,
  ratio_ppm bigint not null,
  output_p90 bigint not null,
  updated_at_ms bigint not null,
  primary key (organization_id, model)
)
