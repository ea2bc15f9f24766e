-- exclusive: tables are rebuilt and keys get columns that programs of before do not fill.
--
-- Room for what is to come. No list of kinds is in the schema any more: a new kind was a rebuild of its table. SQLite
-- cannot drop a constraint, so there the tables are made anew; the foreign keys are off meanwhile, and looked at after.
--
-- Which column is where, and why: docs/adr/0007-room-in-the-schema.md.
alter table schema_migrations add column kind text not null default 'exclusive'
--;; postgres
alter table organizations drop constraint organizations_account_mode_check
--;; postgres
alter table api_keys drop constraint api_keys_kind_check
--;; postgres
alter table budgets drop constraint budgets_kind_check
--;; postgres
alter table leases drop constraint leases_state_check
--;; postgres
alter table postings drop constraint postings_kind_check
--;; postgres
alter table segments drop constraint segments_state_check
--;; postgres
alter table idempotency_keys drop constraint idempotency_keys_state_check
--;; sqlite
create table organizations_new (
  organization_id text primary key,
  name text not null,
  account_mode text not null,
  is_filtered_model_catalog_enabled integer not null default 0,
  policy_json text not null default '{}',
  rate_json text not null default '{}',
  created_at_ms bigint not null,
  deleted_at_ms bigint
)
--;; sqlite
insert into organizations_new select organization_id, name, account_mode, is_filtered_model_catalog_enabled, policy_json,
  rate_json, created_at_ms, deleted_at_ms from organizations
--;; sqlite
drop table organizations
--;; sqlite
alter table organizations_new rename to organizations
--;;
create table workspaces (
  workspace_id text primary key,
  organization_id text not null references organizations (organization_id),
  name text not null,
  is_default integer not null,
  created_at_ms bigint not null,
  deleted_at_ms bigint
)
--;;
create unique index workspaces_default on workspaces (organization_id) where is_default = 1
--;;
insert into workspaces (workspace_id, organization_id, name, is_default, created_at_ms)
  select 'ws_' || organization_id, organization_id, 'Default', 1, created_at_ms from organizations
--;; postgres
alter table api_keys add column workspace_id text references workspaces (workspace_id)
--;; postgres
alter table api_keys add column member_id text
--;; postgres
update api_keys set workspace_id = 'ws_' || organization_id
--;; postgres
alter table api_keys alter column workspace_id set not null
--;; sqlite
create table api_keys_new (
  key_hash text primary key,
  key_id text not null unique,
  organization_id text not null references organizations (organization_id),
  kind text not null,
  name text not null,
  label text not null,
  disabled integer not null default 0,
  limit_nanocredits bigint,
  limit_reset text,
  policy_json text not null default '{}',
  rate_json text not null default '{}',
  expires_at_ms bigint,
  created_at_ms bigint not null,
  updated_at_ms bigint,
  limit_since_ms bigint not null default 0,
  workspace_id text not null references workspaces (workspace_id),
  member_id text
)
--;; sqlite
insert into api_keys_new select key_hash, key_id, organization_id, kind, name, label, disabled, limit_nanocredits,
  limit_reset, policy_json, rate_json, expires_at_ms, created_at_ms, updated_at_ms, limit_since_ms,
  'ws_' || organization_id, null from api_keys
--;; sqlite
drop table api_keys
--;; sqlite
alter table api_keys_new rename to api_keys
--;; sqlite
create index api_keys_organization on api_keys (organization_id, created_at_ms)
--;; sqlite
create table budgets_new (
  budget_id text primary key,
  kind text not null,
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
--;; sqlite
insert into budgets_new select budget_id, kind, organization_id, subject_id, window_start_ms, limit_nanocredits,
  granted_nanocredits, spent_nanocredits, recall_at_ms, parents_json, closed, created_at_ms from budgets
--;; sqlite
drop table budgets
--;; sqlite
alter table budgets_new rename to budgets
--;; sqlite
create index budgets_organization on budgets (organization_id)
--;; sqlite
create table leases_new (
  lease_id text primary key,
  budget_id text not null references budgets (budget_id),
  owner_id text not null,
  epoch bigint not null,
  granted_nanocredits bigint not null,
  captured_nanocredits bigint not null default 0,
  held_nanocredits bigint not null default 0,
  expires_at_ms bigint not null,
  held_until_ms bigint not null,
  state text not null,
  created_at_ms bigint not null
)
--;; sqlite
insert into leases_new select lease_id, budget_id, owner_id, epoch, granted_nanocredits, captured_nanocredits,
  held_nanocredits, expires_at_ms, held_until_ms, state, created_at_ms from leases
--;; sqlite
drop table leases
--;; sqlite
alter table leases_new rename to leases
--;; sqlite
create index leases_budget on leases (budget_id) where state <> 'closed'
--;; sqlite
create index leases_owner on leases (owner_id)
--;; sqlite
create index leases_expiry on leases (expires_at_ms) where state <> 'closed'
--;; sqlite
create table postings_new (
  day bigint not null,
  transaction_id text not null,
  account text not null,
  amount_nanocredits bigint not null,
  created_at_ms bigint not null,
  kind text not null,
  reference text,
  primary key (account, day, transaction_id)
) {{filed_by_day}}
--;; sqlite
insert into postings_new select day, transaction_id, account, amount_nanocredits, created_at_ms, kind, reference
  from postings order by account, day, transaction_id
--;; sqlite
drop table postings
--;; sqlite
alter table postings_new rename to postings
--;; sqlite
create table segments_new (
  batch_id text not null,
  ordinal bigint not null,
  first_item bigint not null,
  item_count bigint not null,
  blob text not null,
  blob_bytes bigint not null,
  state text not null,
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
--;; sqlite
insert into segments_new select batch_id, ordinal, first_item, item_count, blob, blob_bytes, state, owner_id, epoch,
  lease_until_ms, done_bitmap, done_count, failed_count, merged_blob, merged_index_json from segments
--;; sqlite
drop table segments
--;; sqlite
alter table segments_new rename to segments
--;; sqlite
create index segments_state on segments (state, lease_until_ms)
--;; sqlite
create table idempotency_keys_new (
  claim_id text primary key,
  organization_id text not null,
  route text not null,
  owner_id text not null,
  state text not null,
  body_sha256 text,
  reference_id text,
  created_at_ms bigint not null,
  expires_at_ms bigint not null
)
--;; sqlite
insert into idempotency_keys_new select claim_id, organization_id, route, owner_id, state, body_sha256, reference_id,
  created_at_ms, expires_at_ms from idempotency_keys
--;; sqlite
drop table idempotency_keys
--;; sqlite
alter table idempotency_keys_new rename to idempotency_keys
--;; sqlite
create index idempotency_keys_expiry on idempotency_keys (expires_at_ms)
--;;
-- A usage keeps every count that has a price. Of calls before this migration the counts of audio tokens are not known.
alter table usages add column input_audio_tokens bigint
--;;
alter table usages add column output_audio_tokens bigint
--;;
-- Of the tokens written to a cache, those kept for an hour: they have a price of their own.
alter table usages add column cache_write_hour_tokens bigint
--;;
alter table usages add column workspace_id text not null default ''
--;;
alter table usages add column member_id text
--;;
alter table usages add column credential_id text
--;;
update usages set workspace_id = 'ws_' || organization_id
--;;
-- What a roll-up is kept by is in its key, where PostgreSQL takes no null: '' stands for none, or not known.
alter table usage_tail add column workspace_id text not null default ''
--;;
alter table usage_tail add column member_id text not null default ''
--;;
alter table usage_tail add column credential_id text not null default ''
--;;
update usage_tail set workspace_id = 'ws_' || organization_id
--;; postgres
alter table usage_rollups add column workspace_id text not null default ''
--;; postgres
alter table usage_rollups add column member_id text not null default ''
--;; postgres
alter table usage_rollups add column credential_id text not null default ''
--;; postgres
update usage_rollups set workspace_id = 'ws_' || organization_id
--;; postgres
alter table usage_rollups drop constraint usage_rollups_pkey
--;; postgres
alter table usage_rollups add primary key (organization_id, hour, key_id, model, provider, workspace_id, member_id, credential_id)
--;; sqlite
create table usage_rollups_new (
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
  workspace_id text not null default '',
  member_id text not null default '',
  credential_id text not null default '',
  primary key (organization_id, hour, key_id, model, provider, workspace_id, member_id, credential_id)
)
--;; sqlite
insert into usage_rollups_new select organization_id, hour, key_id, model, provider, requests, input_tokens, output_tokens,
  reasoning_tokens, audio_milliseconds, characters, cost_nanocredits, estimated_count, 'ws_' || organization_id, '', ''
  from usage_rollups
--;; sqlite
drop table usage_rollups
--;; sqlite
alter table usage_rollups_new rename to usage_rollups
--;;
-- Which folder has the payloads that the rows of this database name. One row; made by the first start.
create table blob_stores (
  name text primary key,
  store_id text not null,
  location text not null,
  adopted_at_ms bigint not null
)
--;;
-- What refused calls cost the operator: the provider answered, and the charge could not be recorded in time.
create table refused_calls (
  generation_id text primary key,
  organization_id text not null,
  provider text not null,
  model text not null,
  cost_nanocredits bigint not null,
  outcome text not null,
  created_at_ms bigint not null
)
--;;
create index refused_calls_time on refused_calls (created_at_ms)
--;;
-- Processes that are known to have died, so that nobody waits for what they had leased.
create table dead_owners (
  owner_id text primary key,
  marked_at_ms bigint not null
)
--;;
-- What items of a running segment wait for, one row for each kind of error; gone when nothing waits.
create table waiting_items (
  batch_id text not null,
  segment_ordinal bigint not null,
  error_type text not null,
  message text not null,
  items bigint not null,
  since_ms bigint not null,
  next_try_ms bigint not null,
  primary key (batch_id, segment_ordinal, error_type)
)
