-- exclusive: programs of before roll usage up by the hour alone, and its quarters would be lost.
--
-- Usage by quarters of an hour, beside that by hours: a day of any time zone is a sum of both. Quarters of before are
-- summed from the usage rows themselves. What the hours have beyond that (usage rows that are gone) stands in the first
-- quarter of its hour, so that both always have the same sums.
alter table usage_tail add column quarter bigint not null default 0
--;;
update usage_tail set quarter = hour * 4
--;; sqlite
create table usage_quarters (
  organization_id text not null,
  quarter bigint not null,
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
  primary key (organization_id, quarter, key_id, model, provider, workspace_id, member_id, credential_id)
) without rowid
--;; postgres
create table usage_quarters (
  organization_id text not null,
  quarter bigint not null,
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
  primary key (organization_id, quarter, key_id, model, provider, workspace_id, member_id, credential_id)
)
--;;
insert into usage_quarters (organization_id, quarter, key_id, model, provider, workspace_id, member_id, credential_id, requests, input_tokens, output_tokens, reasoning_tokens, audio_milliseconds, characters, estimated_count, cost_nanocredits)
  select organization_id, quarter, key_id, model, provider, workspace_id, member_id, credential_id, cast(sum(requests) as bigint) as requests, cast(sum(input_tokens) as bigint) as input_tokens, cast(sum(output_tokens) as bigint) as output_tokens, cast(sum(reasoning_tokens) as bigint) as reasoning_tokens, cast(sum(audio_milliseconds) as bigint) as audio_milliseconds, cast(sum(characters) as bigint) as characters, cast(sum(estimated_count) as bigint) as estimated_count, cast(sum(cost_nanocredits) as bigint) as cost_nanocredits
  from (
    select organization_id, created_at_ms / 900000 as quarter, key_id, model, provider, workspace_id,
    coalesce(member_id, '') as member_id, coalesce(credential_id, '') as credential_id,
      1 as requests, coalesce(input_tokens, 0) as input_tokens, coalesce(output_tokens, 0) as output_tokens,
      coalesce(reasoning_tokens, 0) as reasoning_tokens, coalesce(audio_milliseconds, 0) as audio_milliseconds,
      coalesce(characters, 0) as characters, is_estimated as estimated_count, cost_nanocredits from usages
    union all select usages.organization_id, usages.created_at_ms / 900000 as quarter, usages.key_id, usages.model, usages.provider, usages.workspace_id,
    coalesce(usages.member_id, '') as member_id, coalesce(usages.credential_id, '') as credential_id,
      0, 0, 0, 0, 0, 0, 0, amount_nanocredits
      from postings join usages on usages.day = postings.day and generation_id = reference
      where account = 'income:usage' and (kind = 'refund' or kind = 'correction')
  ) as parts group by organization_id, quarter, key_id, model, provider, workspace_id, member_id, credential_id
--;;
insert into usage_quarters (organization_id, quarter, key_id, model, provider, workspace_id, member_id, credential_id, requests, input_tokens, output_tokens, reasoning_tokens, audio_milliseconds, characters, estimated_count, cost_nanocredits)
  select organization_id, quarter, key_id, model, provider, workspace_id, member_id, credential_id, cast(sum(requests) as bigint) as requests, cast(sum(input_tokens) as bigint) as input_tokens, cast(sum(output_tokens) as bigint) as output_tokens, cast(sum(reasoning_tokens) as bigint) as reasoning_tokens, cast(sum(audio_milliseconds) as bigint) as audio_milliseconds, cast(sum(characters) as bigint) as characters, cast(sum(estimated_count) as bigint) as estimated_count, cast(sum(cost_nanocredits) as bigint) as cost_nanocredits
  from (
    select organization_id, hour * 4 as quarter, key_id, model, provider, workspace_id, member_id, credential_id, requests, input_tokens, output_tokens, reasoning_tokens, audio_milliseconds, characters, estimated_count, cost_nanocredits from usage_rollups
    union all select organization_id, quarter / 4 * 4 as quarter, key_id, model, provider, workspace_id, member_id, credential_id, -requests, -input_tokens, -output_tokens, -reasoning_tokens, -audio_milliseconds, -characters, -estimated_count, -cost_nanocredits from usage_quarters
    union all select organization_id, quarter, key_id, model, provider, workspace_id, member_id, credential_id, requests, input_tokens, output_tokens, reasoning_tokens, audio_milliseconds, characters, estimated_count, cost_nanocredits from usage_tail
  ) as parts where true group by organization_id, quarter, key_id, model, provider, workspace_id, member_id, credential_id
  having sum(requests) <> 0 or sum(input_tokens) <> 0 or sum(output_tokens) <> 0 or sum(reasoning_tokens) <> 0 or sum(audio_milliseconds) <> 0 or sum(characters) <> 0 or sum(estimated_count) <> 0 or sum(cost_nanocredits) <> 0
  on conflict (organization_id, quarter, key_id, model, provider, workspace_id, member_id, credential_id) do update set requests = usage_quarters.requests + excluded.requests, input_tokens = usage_quarters.input_tokens + excluded.input_tokens, output_tokens = usage_quarters.output_tokens + excluded.output_tokens, reasoning_tokens = usage_quarters.reasoning_tokens + excluded.reasoning_tokens, audio_milliseconds = usage_quarters.audio_milliseconds + excluded.audio_milliseconds, characters = usage_quarters.characters + excluded.characters, estimated_count = usage_quarters.estimated_count + excluded.estimated_count, cost_nanocredits = usage_quarters.cost_nanocredits + excluded.cost_nanocredits
--;;
-- The tail was counted with the rest; from here on it is what is not in the quarters yet.
insert into usage_quarters (organization_id, quarter, key_id, model, provider, workspace_id, member_id, credential_id, requests, input_tokens, output_tokens, reasoning_tokens, audio_milliseconds, characters, estimated_count, cost_nanocredits)
  select organization_id, quarter, key_id, model, provider, workspace_id, member_id, credential_id, -cast(sum(requests) as bigint), -cast(sum(input_tokens) as bigint), -cast(sum(output_tokens) as bigint), -cast(sum(reasoning_tokens) as bigint), -cast(sum(audio_milliseconds) as bigint), -cast(sum(characters) as bigint), -cast(sum(estimated_count) as bigint), -cast(sum(cost_nanocredits) as bigint) from usage_tail where true group by organization_id, quarter, key_id, model, provider, workspace_id, member_id, credential_id
  on conflict (organization_id, quarter, key_id, model, provider, workspace_id, member_id, credential_id) do update set requests = usage_quarters.requests + excluded.requests, input_tokens = usage_quarters.input_tokens + excluded.input_tokens, output_tokens = usage_quarters.output_tokens + excluded.output_tokens, reasoning_tokens = usage_quarters.reasoning_tokens + excluded.reasoning_tokens, audio_milliseconds = usage_quarters.audio_milliseconds + excluded.audio_milliseconds, characters = usage_quarters.characters + excluded.characters, estimated_count = usage_quarters.estimated_count + excluded.estimated_count, cost_nanocredits = usage_quarters.cost_nanocredits + excluded.cost_nanocredits
--;;
-- Refunds are few among the postings, and are looked for by their day.
create index postings_refunds on postings (day) where kind = 'refund' or kind = 'correction'
--;;
-- What the largest end users of a day (UTC) used; the rest of the day stands under a null user.
create table usage_user_days (
  organization_id text not null,
  day bigint not null,
  place bigint not null,
  user_id text,
  requests bigint not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  cost_nanocredits bigint not null,
  primary key (organization_id, day, place)
)
