-- exclusive: a program of before would take the items that a job did not send for items without an answer.
--
-- The place in the batch of the first item that a job of one segment had no room for; null where all of its items were sent.
alter table native_jobs add column sent_until bigint
