-- additive: a program of before does not count these; what it ended is shown as failed, and without files.
--
-- Of the failed items, those that were closed because the batch was cancelled or had expired.
alter table batches add column cancelled_items bigint not null default 0
--;;
alter table batches add column expired_items bigint not null default 0
--;;
-- Bytes of the answers and of the errors, as lines of the files that OpenAI's clients read.
alter table batches add column output_bytes bigint not null default 0
--;;
alter table batches add column error_bytes bigint not null default 0
