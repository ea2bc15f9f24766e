-- additive: programs of before leave the column at its default.
--
-- A usage keeps every count that has a price: the search units of a reranking.
alter table usages add column search_units bigint not null default 0
