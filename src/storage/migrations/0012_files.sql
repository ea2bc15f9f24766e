-- additive: a program of before has no files, and removes none of their bytes.
--
-- Files of organizations: uploads, whose bytes are a blob, and results of batches, which are read from the batch.
create table files (
  file_id text primary key,
  organization_id text not null,
  purpose text not null,
  name text not null,
  media_type text not null,
  bytes bigint not null,
  blob text,
  batch_id text,
  created_at_ms bigint not null,
  expires_at_ms bigint
)
--;;
create index files_organization on files (organization_id, created_at_ms, file_id)
--;;
create index files_batch on files (batch_id)
--;;
create index files_blob on files (blob)
--;;
create index files_expiry on files (expires_at_ms) where expires_at_ms is not null
