-- When a key's limit began to count as it does: a limit was set, or its reset became another one. Not its amount.
alter table api_keys add column limit_since_ms bigint not null default 0
--;;
update api_keys set limit_since_ms = created_at_ms
--;;
drop index budgets_subject
