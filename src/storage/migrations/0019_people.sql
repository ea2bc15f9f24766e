-- additive: tables of their own, which programs of before do not know. The keys of kind "playground" that come with them
-- have secrets that nobody knows; to those programs they are keys that are never used.
--
-- People of an organization. One who was removed stays as a row, because usage rows name its id.
create table members (
  member_id text primary key,
  organization_id text not null references organizations (organization_id),
  email text,
  first_name text,
  last_name text,
  role text not null,
  password_hash text,
  key_id text not null,
  management_key_id text,
  created_at_ms bigint not null,
  joined_at_ms bigint,
  removed_at_ms bigint
)
--;;
create index members_organization on members (organization_id, created_at_ms, member_id)
--;;
create unique index members_email on members (organization_id, email) where removed_at_ms is null
--;;
create unique index members_management_key on members (management_key_id)
--;;
-- Tokens of links that sign a person in. A token is used up by removing its row.
create table sign_in_links (
  link_hash text primary key,
  member_id text not null references members (member_id),
  created_at_ms bigint not null,
  expires_at_ms bigint not null
)
--;;
create index sign_in_links_member on sign_in_links (member_id)
--;;
create table sessions (
  session_hash text primary key,
  session_id text not null unique,
  member_id text not null references members (member_id),
  opened_by text not null,
  management_key_id text,
  user_agent text,
  address text not null,
  created_at_ms bigint not null,
  last_used_at_ms bigint not null,
  expires_at_ms bigint not null
)
--;;
create index sessions_member on sessions (member_id, last_used_at_ms)
--;;
create index sessions_last_used on sessions (last_used_at_ms)
