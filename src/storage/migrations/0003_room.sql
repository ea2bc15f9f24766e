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
