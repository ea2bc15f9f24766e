-- additive: a table of its own, which programs of before do not know and do not need.
--
-- Default prices that the operator took without a release. The newest version counts; an empty content stands for the
-- prices that the program came with. Rows are never changed.
create table price_lists (
  version bigint primary key,
  source text not null,
  checksum text not null,
  content text not null,
  created_at_ms bigint not null
)
