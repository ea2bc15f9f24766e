-- exclusive: programs of before do not add to these sums, so an overview would miss their calls.
--
-- A generation id tells when its call began, so its row is looked for near that time: an index would cost every call.
drop index request_log_generation
--;; sqlite
-- Sums of the log by hours that an overview reads: of each model and provider with all keys together (`scope` is `models`,
-- the key is empty), and of each key with all models together (`keys`, the others are empty).
create table request_hours (
  organization_id text not null,
  scope text not null,
  hour bigint not null,
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
  primary key (organization_id, scope, hour, key_id, model, provider)
) without rowid
--;; postgres
create table request_hours (
  organization_id text not null,
  scope text not null,
  hour bigint not null,
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
  primary key (organization_id, scope, hour, key_id, model, provider)
)
--;;
insert into request_hours (organization_id, scope, hour, key_id, model, provider, requests, failed, refused, cancelled, l0, l1, l2, l3, l4, l5, l6, l7, l8, l9, l10, l11, l12, l13, l14, l15, l16, l17, l18, l19, l20, l21, l22, l23, l24, l25, l26, l27, l28, l29, l30, l31)
  select organization_id, 'models', slot, '', model, provider, cast(sum(requests) as bigint), cast(sum(failed) as bigint), cast(sum(refused) as bigint), cast(sum(cancelled) as bigint), cast(sum(l0) as bigint), cast(sum(l1) as bigint), cast(sum(l2) as bigint), cast(sum(l3) as bigint), cast(sum(l4) as bigint), cast(sum(l5) as bigint), cast(sum(l6) as bigint), cast(sum(l7) as bigint), cast(sum(l8) as bigint), cast(sum(l9) as bigint), cast(sum(l10) as bigint), cast(sum(l11) as bigint), cast(sum(l12) as bigint), cast(sum(l13) as bigint), cast(sum(l14) as bigint), cast(sum(l15) as bigint), cast(sum(l16) as bigint), cast(sum(l17) as bigint), cast(sum(l18) as bigint), cast(sum(l19) as bigint), cast(sum(l20) as bigint), cast(sum(l21) as bigint), cast(sum(l22) as bigint), cast(sum(l23) as bigint), cast(sum(l24) as bigint), cast(sum(l25) as bigint), cast(sum(l26) as bigint), cast(sum(l27) as bigint), cast(sum(l28) as bigint), cast(sum(l29) as bigint), cast(sum(l30) as bigint), cast(sum(l31) as bigint)
  from request_rollups where minutes = 60 group by organization_id, slot, model, provider
--;;
insert into request_hours (organization_id, scope, hour, key_id, model, provider, requests, failed, refused, cancelled, l0, l1, l2, l3, l4, l5, l6, l7, l8, l9, l10, l11, l12, l13, l14, l15, l16, l17, l18, l19, l20, l21, l22, l23, l24, l25, l26, l27, l28, l29, l30, l31)
  select organization_id, 'keys', slot, key_id, '', '', cast(sum(requests) as bigint), cast(sum(failed) as bigint), cast(sum(refused) as bigint), cast(sum(cancelled) as bigint), cast(sum(l0) as bigint), cast(sum(l1) as bigint), cast(sum(l2) as bigint), cast(sum(l3) as bigint), cast(sum(l4) as bigint), cast(sum(l5) as bigint), cast(sum(l6) as bigint), cast(sum(l7) as bigint), cast(sum(l8) as bigint), cast(sum(l9) as bigint), cast(sum(l10) as bigint), cast(sum(l11) as bigint), cast(sum(l12) as bigint), cast(sum(l13) as bigint), cast(sum(l14) as bigint), cast(sum(l15) as bigint), cast(sum(l16) as bigint), cast(sum(l17) as bigint), cast(sum(l18) as bigint), cast(sum(l19) as bigint), cast(sum(l20) as bigint), cast(sum(l21) as bigint), cast(sum(l22) as bigint), cast(sum(l23) as bigint), cast(sum(l24) as bigint), cast(sum(l25) as bigint), cast(sum(l26) as bigint), cast(sum(l27) as bigint), cast(sum(l28) as bigint), cast(sum(l29) as bigint), cast(sum(l30) as bigint), cast(sum(l31) as bigint)
  from request_rollups where minutes = 60 group by organization_id, slot, key_id
