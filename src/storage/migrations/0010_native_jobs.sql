-- exclusive: a program of before would run the items of a job, or of a batch that waits for one, at the live price.
--
-- Jobs of providers' own batch services. A row is an intent before anything is sent, and stays until its batch is purged.
-- A job owns whole segments: their state is `given`, and their owner is the job. `owner_id` and `epoch` of a job are the
-- process that drives it and the fence against the process before.
create table native_jobs (
  job_id text primary key,
  batch_id text not null,
  nonce text not null,
  endpoint_id text not null,
  deployment_id text not null,
  credential_id text not null,
  price_json text not null,
  operation text,
  state text not null,
  item_count bigint not null default 0,
  tries bigint not null default 0,
  input_file_id text,
  upstream_id text,
  outputs_json text not null default '[]',
  ended_as text,
  reason text,
  stray_lines bigint not null default 0,
  moved_items bigint not null default 0,
  created_at_ms bigint not null,
  sent_at_ms bigint,
  cancelled_at_ms bigint,
  ended_at_ms bigint,
  due_at_ms bigint not null default 0,
  owner_id text,
  epoch bigint not null default 0,
  lease_until_ms bigint not null default 0
)
--;;
create index native_jobs_due on native_jobs (due_at_ms) where state <> 'ended'
--;;
create index native_jobs_batch on native_jobs (batch_id)
--;;
-- The lane to which a segment's unfinished items were moved; null while they are in their batch's own.
alter table segments add column lane text
