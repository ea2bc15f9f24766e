-- additive: tables of their own. A program of before leaves no rows in them, and refuses a configuration that asks for some.
--
-- Generations that are still to be told to a destination of the operator's. A row is written in the transaction of the
-- capture, and goes when the destination has taken it.
create table broadcasts (
  destination text not null,
  generation_id text not null,
  state text not null,
  created_at_ms bigint not null,
  payload_json text not null,
  primary key (destination, generation_id)
)
--;;
create index broadcasts_order on broadcasts (destination, state, created_at_ms, generation_id)
--;;
-- How a destination fares; leased while one process tells it something.
create table broadcast_destinations (
  destination text primary key,
  epoch bigint not null default 0,
  owner_id text,
  lease_until_ms bigint not null default 0,
  due_at_ms bigint not null default 0,
  failing_since_ms bigint,
  group_max bigint,
  status bigint,
  problem text,
  sent bigint not null default 0,
  failed bigint not null default 0,
  dropped bigint not null default 0
)
