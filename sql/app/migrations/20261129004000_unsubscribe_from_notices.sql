-- Notices by mail are switched off by one request without a sign-in: the button of mail programs (RFC 8058) and the link in the mail. The server
-- takes it at /mails/v1/unsubscribe, and calls private.unsubscribe ([selvedge.jobs] unsubscribe in config.toml).
--
-- Whoever has a mail can switch off that its recipient gets more of them, and nothing else: the token opens no session, and on again is switched in
-- the settings.

-- The API has a path that begins with `mails`. A name that somebody has already stays valid; the check runs when a username is written.
create or replace function public.reserved_usernames() returns text[]
  language sql
  immutable
  set search_path = ''
as $$
  -- A profile lives at /{username}: these first segments belong to the site or to the API.
  select array[
    'about', 'admin', 'api', 'assets', 'auth', 'bookmarks', 'brand', 'brands', 'collections', 'create', 'create-outfit', 'dashboard',
    'discovery', 'edit', 'explore', 'favicon.ico', 'favicon.svg', 'functions', 'generator', 'graphql', 'health', 'help', 'icons', 'index.html',
    'items', 'likes', 'login', 'logout', 'look', 'mails', 'manifest.webmanifest', 'metrics', 'moderator', 'notifications', 'null',
    'outfits', 'pg', 'privacy', 'product', 'profile', 'profile-settings', 'realtime', 'reset', 'rest', 'robots.txt', 'root',
    'search', 'settings', 'signup', 'sitemap.xml', 'static', 'storage', 'support', 'sw.js', 'terms', 'top', 'undefined', 'welcome', 'www'
  ]
$$;

-- The key of the tokens. It stays the same for the life of the database, so that old mails can be ended, too.
create table private.mail_key (
  key bytea not null default extensions.gen_random_bytes(32)
);
comment on table private.mail_key is 'The key, one row, with which tokens for unsubscribing are made. Nobody but the functions of their owner reads it.';
create unique index mail_key_is_one on private.mail_key ((true));
alter table private.mail_key enable row level security;
revoke all on table private.mail_key from public, anon, authenticated, service_role;
insert into private.mail_key default values;

create function private.unsubscribe_token(person uuid) returns text
  language sql
  stable
  -- Definer: nobody else reads the key.
  security definer
  set search_path = ''
as $$
  -- The person and 256 bits that only the key can make of them: 48 bytes, 64 letters that mean themselves in an address.
  select translate(encode(uuid_send(person) || extensions.hmac(uuid_send(person), k.key, 'sha256'), 'base64'), '+/', '-_')
  from private.mail_key as k
$$;
comment on function private.unsubscribe_token(uuid) is 'What a mail to this person has in the link that ends such mails.';
revoke execute on function private.unsubscribe_token(uuid) from public, anon, authenticated, service_role;

create function private.unsubscribe(token text) returns boolean
  language plpgsql
  -- Definer: nobody else reads the key, and everybody writes their own setting alone.
  security definer
  set search_path = ''
as $$
declare
  person uuid;
  salt constant bytea := extensions.gen_random_bytes(32);
begin
  if token !~ '^[A-Za-z0-9_-]{64}$' then
    return false;
  end if;
  person := encode(substr(decode(translate(token, '-_', '+/'), 'base64'), 1, 16), 'hex')::uuid;
  -- Digests with a salt are compared, so the time that it takes says nothing about how much of a token is right.
  if sha256(salt || convert_to(token, 'UTF8')) <> sha256(salt || convert_to(private.unsubscribe_token(person), 'UTF8')) then
    return false;
  end if;
  -- Of a deleted account nothing is left that could be switched off.
  insert into public.mail_settings (user_id, notices)
  select p.id, false from public.profiles as p where p.id = person
  on conflict (user_id) do update set notices = false;
  return true;
end
$$;
comment on function private.unsubscribe(text) is 'Switches off notices by mail for the person of this token; false for a token that was not made here.';
revoke execute on function private.unsubscribe(text) from public, anon, authenticated;
grant execute on function private.unsubscribe(text) to service_role;

alter table private.notice_mails add column unsubscribe_token text;

create or replace function private.write_notice_mail() returns trigger
  language plpgsql
  -- Definer: the addresses of people are in auth.users.
  security definer
  set search_path = ''
as $$
declare
  most constant int := 20;
  unread public.notifications[];
  site_name constant text := coalesce((select s.site_name from public.site_settings as s), 'Lookbook');
begin
  -- The newest mail that was sent says until when everything was told; failures stay for two days.
  delete from private.notice_mails as m
  where m.user_id = new.user_id and m.id <> new.id
    and (m.last_error = 'nothing to tell' or m.done_at < now() - interval '2 days')
    and (m.last_error is not null or m.told_until < private.told_until(new.user_id));
  new.recipient := private.mail_address(new.user_id);
  unread := array(
    select n from public.notifications as n
    where n.user_id = new.user_id and n.read_at is null
      -- Notices that are older than a week are not told, as after the upgrade that brings these mails.
      and n.created_at > greatest(private.told_until(new.user_id), now() - interval '7 days')
    order by n.created_at desc, n.id
    limit 1000);
  if new.recipient is null or cardinality(unread) = 0 then
    new.recipient := null;
    new.done_at := now();
    new.last_error := 'nothing to tell';
    return new;
  end if;
  new.told_until := (select max(n.created_at) from unnest(unread) as n);
  new.unsubscribe_token := private.unsubscribe_token(new.user_id);
  new.subject := case cardinality(unread) when 1 then '' else cardinality(unread)::text || ' ' end
    || case cardinality(unread) when 1 then 'News' else 'news' end || ' on ' || site_name;
  new.body := (
      select string_agg('- ' || private.notice_line(unread[place]), E'\n' order by place)
      from generate_series(1, least(cardinality(unread), most)) as place)
    || case when cardinality(unread) > most then format(E'\n- and %s more', cardinality(unread) - most) else '' end
    || E'\n\nSee all: {{ .SiteURL }}/notifications'
    || E'\n\nYou no longer want these mails? Unsubscribe: {{ .UnsubscribeURL }}'
    || E'\nWhich mails you get: {{ .SiteURL }}/profile-settings#mails\n';
  return new;
end
$$;

create or replace function private.forget_notice_mail() returns trigger
  language plpgsql
  set search_path = ''
as $$
begin
  new.recipient := null;
  new.subject := null;
  new.body := null;
  new.unsubscribe_token := null;
  return new;
end
$$;
