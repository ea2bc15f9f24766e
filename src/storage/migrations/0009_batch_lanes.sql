-- exclusive: a program of before would run the items of another lane at the live price.
--
-- What the caller of a batch asked for: one lane, or `auto`. Batches of before had only one lane.
alter table batches add column lane_choice text not null default 'emulated'
--;;
-- How many items of a batch left its lane, to which other one, and why; one row for each reason.
create table batch_moves (
  batch_id text not null,
  from_lane text not null,
  to_lane text not null,
  reason text not null,
  items bigint not null,
  primary key (batch_id, from_lane, to_lane, reason)
)
