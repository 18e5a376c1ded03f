-- One public page per account. Holds nothing that may not be shown to everybody:
-- the e-mail address stays in auth.users.

create function private.is_reserved_username(candidate text) returns boolean
  language sql
  immutable
  set search_path = ''
as $$
  -- A profile lives at /{username}: these first segments belong to the site or to the API.
  select lower(candidate) = any (array[
    'about', 'admin', 'api', 'assets', 'auth', 'brand', 'brands', 'create-outfit', 'discovery',
    'favicon.ico', 'functions', 'health', 'help', 'index.html', 'login', 'logout', 'look',
    'metrics', 'null', 'privacy', 'product', 'profile', 'realtime', 'rest', 'robots.txt',
    'settings', 'signup', 'storage', 'support', 'terms', 'undefined'
  ])
$$;
comment on function private.is_reserved_username(text) is
  'True for names that would hide a page of the site behind a profile.';

create table public.profiles (
  id            uuid        not null,
  username      text,
  full_name     text,
  avatar_url    text,
  bio           text,
  instagram_url text,
  twitter_url   text,
  website_url   text,
  role          text        not null default 'user',
  created_at    timestamptz not null default now(),
  updated_at    timestamptz not null default now(),

  constraint profiles_pkey primary key (id),
  constraint profiles_id_fkey foreign key (id) references auth.users (id) on delete cascade,
  constraint profiles_username_length check (char_length(username) between 3 and 50),
  -- The username is a segment of the page's path: no characters that need escaping, and not `.` or `..`.
  constraint profiles_username_format check (username ~ '^[A-Za-z0-9_][A-Za-z0-9._-]*$'),
  constraint profiles_username_not_reserved check (not private.is_reserved_username(username)),
  constraint profiles_full_name_length check (char_length(full_name) <= 120),
  constraint profiles_bio_length check (char_length(bio) <= 1000),
  constraint profiles_avatar_url_location
    check (avatar_url ~ '^(https?://|/)\S+$' and char_length(avatar_url) <= 2048),
  -- Links are rendered as href, so `javascript:` URLs must not be stored.
  constraint profiles_instagram_url_http
    check (instagram_url ~* '^https?://\S+$' and char_length(instagram_url) <= 2048),
  constraint profiles_twitter_url_http
    check (twitter_url ~* '^https?://\S+$' and char_length(twitter_url) <= 2048),
  constraint profiles_website_url_http
    check (website_url ~* '^https?://\S+$' and char_length(website_url) <= 2048),
  constraint profiles_role_known check (role in ('user', 'admin'))
);

comment on table public.profiles is
  'Public page of an account: everybody reads, the owner edits, the role changes only through set_user_role.';
comment on column public.profiles.username is
  'First path segment of the public page; kept as typed, unique whatever the case; null until chosen.';
comment on column public.profiles.avatar_url is
  'Absolute address or root-relative path such as /storage/v1/object/public/avatars/<file>.';

-- Usernames are unique regardless of case: Mira and mira are the same.
create unique index profiles_username_key on public.profiles (lower(username));
-- For page lookups, which compare the username with its case.
create index profiles_username_idx on public.profiles (username);
-- For the admin area's list of users, newest first.
create index profiles_created_at_idx on public.profiles (created_at desc);
-- For finding the few administrators without reading all profiles.
create index profiles_admins_idx on public.profiles (id) where role = 'admin';

create trigger profiles_blank_to_null
  before insert or update on public.profiles
  for each row execute function private.blank_to_null(
    'username', 'full_name', 'avatar_url', 'bio', 'instagram_url', 'twitter_url', 'website_url');
create trigger profiles_set_updated_at
  before update on public.profiles
  for each row execute function private.set_updated_at();

-- No policies yet: 20260901000400_profile_access.sql adds them.
alter table public.profiles enable row level security;
