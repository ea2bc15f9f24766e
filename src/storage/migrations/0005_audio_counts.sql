-- additive: programs of before leave both columns at their default.
--
-- A usage keeps every count that has a price: the channels of audio, where each of them is billed, and the bytes of a text
-- that is spoken, where those are counted and not its characters.
alter table usages add column audio_channels bigint not null default 0
--;;
alter table usages add column utf8_bytes bigint not null default 0
