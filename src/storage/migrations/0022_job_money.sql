-- exclusive: a program of before would send jobs for more money than their batch has.
--
-- The most that the items of a job can cost, which its batch has while the job runs; 0 for a batch that nothing limits.
alter table native_jobs add column worst_nanocredits bigint not null default 0
