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
