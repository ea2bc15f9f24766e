-- exclusive: a program of before would end a batch without leaving its event.
--
-- Where the end of a batch is told.
alter table batches add column callback_url text
--;;
-- The secret with which an organization's events are signed, sealed with the operator's master key.
create table signing_secrets (
  organization_id text primary key,
  sealed text not null,
  created_at_ms bigint not null
)
--;;
-- Events to be told. A row is written in the transaction of what it tells, and leased while one process tells it.
create table deliveries (
  delivery_id text primary key,
  organization_id text not null,
  batch_id text not null,
  event text not null,
  state text not null,
  tries bigint not null default 0,
  created_at_ms bigint not null,
  since_ms bigint not null,
  due_at_ms bigint not null,
  ended_at_ms bigint,
  owner_id text,
  lease_until_ms bigint not null default 0
)
--;;
create index deliveries_due on deliveries (due_at_ms) where state = 'waiting'
--;;
create index deliveries_batch on deliveries (batch_id)
--;;
-- Every try of a delivery and its outcome.
create table delivery_tries (
  delivery_id text not null,
  try bigint not null,
  tried_at_ms bigint not null,
  duration_ms bigint not null,
  status bigint,
  problem text,
  primary key (delivery_id, try)
)
