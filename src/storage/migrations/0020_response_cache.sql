-- additive: a table of its own, which programs of before do not know.
--
-- Answers that are given again to an equal call of the same key. A row names its blob for a day at most.
create table cached_answers (
  cache_key text primary key,
  organization_id text not null,
  blob text not null,
  bytes bigint not null,
  generation_id text not null,
  model text not null,
  provider text not null,
  provider_name text not null,
  endpoint_id text not null,
  finish_reason text,
  native_finish_reason text,
  ttl_seconds bigint not null,
  created_at_ms bigint not null,
  expires_at_ms bigint not null
)
--;;
create index cached_answers_order on cached_answers (created_at_ms, cache_key)
--;;
create index cached_answers_expiry on cached_answers (expires_at_ms)
