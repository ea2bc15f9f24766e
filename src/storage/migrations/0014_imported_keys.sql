-- additive: a table of its own, which programs of before do not know; what they import is not remembered there.
--
-- Hashes of secrets that were imported from another gateway. They stay when the key gets another secret or is deleted, so
-- that importing again does not bring the old secret back. Which of the present keys were imported is not known, so all
-- count as imported.
create table imported_keys (
  key_hash text primary key
)
--;;
insert into imported_keys (key_hash) select key_hash from api_keys
--;;
insert into imported_keys (key_hash)
  select key_hash from former_secrets where key_hash not in (select key_hash from api_keys)
