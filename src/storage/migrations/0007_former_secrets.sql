-- additive: a table of its own, which programs of before do not know; to them a rotated key has its new secret alone.
--
-- Secrets that a key had before it was given another one, and until when they go on working beside it.
create table former_secrets (
  key_hash text primary key,
  key_id text not null,
  until_ms bigint not null
)
--;;
create index former_secrets_key on former_secrets (key_id)
