-- additive: tables of their own, which programs of before do not know.
--
-- Requests without a valid key have no organization: they are counted by address.
create table anonymous_refusals (
  minute bigint not null,
  client_address text not null,
  requests bigint not null,
  primary key (minute, client_address)
)
--;; sqlite
-- The log of calls, answered or not: what people look for. Money is counted elsewhere: this log may lose its last second.
-- A request's id begins with its time, so the key is also the order of the log; PostgreSQL must compare it byte by byte.
create table request_log (
  organization_id text not null,
  request_id text not null,
  generation_id text,
  key_id text not null,
  outcome text not null,
  status bigint not null,
  error_type text,
  operation text,
  model text,
  provider text,
  deployment text,
  user_id text,
  session_id text,
  batch_id text,
  streamed integer not null,
  attempts bigint not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  first_byte_ms bigint,
  total_ms bigint not null,
  cost_nanocredits bigint,
  is_estimated integer not null,
  client_address text,
  details_json text not null,
  primary key (organization_id, request_id)
) without rowid
--;; postgres
create table request_log (
  organization_id text collate "C" not null,
  request_id text collate "C" not null,
  generation_id text,
  key_id text not null,
  outcome text not null,
  status bigint not null,
  error_type text,
  operation text,
  model text,
  provider text,
  deployment text,
  user_id text,
  session_id text,
  batch_id text,
  streamed integer not null,
  attempts bigint not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  first_byte_ms bigint,
  total_ms bigint not null,
  cost_nanocredits bigint,
  is_estimated integer not null,
  client_address text,
  details_json text not null,
  primary key (organization_id, request_id)
)
--;;
create index request_log_generation on request_log (generation_id) where generation_id is not null
--;;
-- A search for what went wrong must not read what went well.
create index request_log_failures on request_log (organization_id, request_id) where outcome <> 'answered'
--;;
create index request_log_session on request_log (organization_id, session_id, request_id) where session_id is not null
--;; sqlite
-- Sums of the log by quarters of an hour and by hours (`minutes`), with a histogram of the times of answered calls (`l0…`).
create table request_rollups (
  organization_id text not null,
  minutes bigint not null,
  slot bigint not null,
  key_id text not null,
  model text not null,
  provider text not null,
  requests bigint not null,
  failed bigint not null,
  refused bigint not null,
  cancelled bigint not null,
  l0 bigint not null default 0,
  l1 bigint not null default 0,
  l2 bigint not null default 0,
  l3 bigint not null default 0,
  l4 bigint not null default 0,
  l5 bigint not null default 0,
  l6 bigint not null default 0,
  l7 bigint not null default 0,
  l8 bigint not null default 0,
  l9 bigint not null default 0,
  l10 bigint not null default 0,
  l11 bigint not null default 0,
  l12 bigint not null default 0,
  l13 bigint not null default 0,
  l14 bigint not null default 0,
  l15 bigint not null default 0,
  l16 bigint not null default 0,
  l17 bigint not null default 0,
  l18 bigint not null default 0,
  l19 bigint not null default 0,
  l20 bigint not null default 0,
  l21 bigint not null default 0,
  l22 bigint not null default 0,
  l23 bigint not null default 0,
  l24 bigint not null default 0,
  l25 bigint not null default 0,
  l26 bigint not null default 0,
  l27 bigint not null default 0,
  l28 bigint not null default 0,
  l29 bigint not null default 0,
  l30 bigint not null default 0,
  l31 bigint not null default 0,
  primary key (organization_id, minutes, slot, key_id, model, provider)
) without rowid
--;; postgres
create table request_rollups (
  organization_id text not null,
  minutes bigint not null,
  slot bigint not null,
  key_id text not null,
  model text not null,
  provider text not null,
  requests bigint not null,
  failed bigint not null,
  refused bigint not null,
  cancelled bigint not null,
  l0 bigint not null default 0,
  l1 bigint not null default 0,
  l2 bigint not null default 0,
  l3 bigint not null default 0,
  l4 bigint not null default 0,
  l5 bigint not null default 0,
  l6 bigint not null default 0,
  l7 bigint not null default 0,
  l8 bigint not null default 0,
  l9 bigint not null default 0,
  l10 bigint not null default 0,
  l11 bigint not null default 0,
  l12 bigint not null default 0,
  l13 bigint not null default 0,
  l14 bigint not null default 0,
  l15 bigint not null default 0,
  l16 bigint not null default 0,
  l17 bigint not null default 0,
  l18 bigint not null default 0,
  l19 bigint not null default 0,
  l20 bigint not null default 0,
  l21 bigint not null default 0,
  l22 bigint not null default 0,
  l23 bigint not null default 0,
  l24 bigint not null default 0,
  l25 bigint not null default 0,
  l26 bigint not null default 0,
  l27 bigint not null default 0,
  l28 bigint not null default 0,
  l29 bigint not null default 0,
  l30 bigint not null default 0,
  l31 bigint not null default 0,
  primary key (organization_id, minutes, slot, key_id, model, provider)
)
--;;
-- What each running process says of itself and of its deployments, written again every two seconds.
create table process_states (
  owner_id text primary key,
  started_at_ms bigint not null,
  seen_at_ms bigint not null,
  state_json text not null
)
--;;
create table generation_feedback (
  feedback_id text primary key,
  organization_id text not null,
  generation_id text not null,
  category text not null,
  comment text,
  created_at_ms bigint not null
)
--;;
create index generation_feedback_generation on generation_feedback (generation_id)
