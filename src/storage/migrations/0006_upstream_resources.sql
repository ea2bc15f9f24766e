-- additive: a table of its own, which programs of before do not know and do not need.
--
-- What requests make at providers and what stays there: jobs, files. A row is written before the request that makes it,
-- and goes when the thing is gone. `state` is `used` (a process works with it), `left` (to be removed) or `kept` (it stays
-- there, and `reason` says why); `owner_id` is the process that uses or removes it. `upstream_id` is null until the
-- provider has named it; `marker` finds it then.
create table upstream_resources (
  resource_id text primary key,
  kind text not null,
  deployment_id text not null,
  credential_id text not null,
  used_by text not null,
  marker text,
  upstream_id text,
  state text not null,
  reason text,
  owner_id text,
  tries bigint not null default 0,
  due_at_ms bigint not null default 0,
  created_at_ms bigint not null,
  left_at_ms bigint
)
--;;
create index upstream_resources_due on upstream_resources (due_at_ms) where state <> 'used'
--;;
create index upstream_resources_owner on upstream_resources (owner_id) where owner_id is not null
--;;
create index upstream_resources_known on upstream_resources (deployment_id, kind)
