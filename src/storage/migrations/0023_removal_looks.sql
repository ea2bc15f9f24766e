-- additive: a program of before looks for a lost thing less often.
--
-- How often a thing whose id never came was looked for, and the provider answered.
alter table upstream_resources add column looks bigint not null default 0
