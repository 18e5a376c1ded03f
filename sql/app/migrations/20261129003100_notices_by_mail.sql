-- Notices by mail: what has not been read on the site within a quarter of an hour is told by a mail. Everything unread is in one mail; likes
-- and followers are told once a day at most, decisions about outfits whenever there is one. Everybody switches them off for themselves.
--
-- The server sends the rows of private.notice_mails ([selvedge.jobs] mail_table in config.toml). A notification only says that a mail is due; what is in
-- it is written when the server takes it, so that it has nothing that was read meanwhile, and nobody who likes an outfit waits for others.

create table public.mail_settings (
  user_id    uuid        not null default auth.uid(),
  notices    boolean     not null,
  created_at timestamptz not null default now(),

  constraint mail_settings_pkey primary key (user_id),
  constraint mail_settings_user_id_fkey
    foreign key (user_id) references public.profiles (id) on delete cascade,
  constraint mail_settings_created_at_finite check (isfinite(created_at))
);
comment on table public.mail_settings is
  'Which mails a person wants. Without a row: all. Mails about the account itself, such as a new password, are always sent.';
comment on column public.mail_settings.notices is 'Whether unread notifications are told by mail.';

alter table public.mail_settings enable row level security;
revoke all on table public.mail_settings from anon, authenticated;
grant select on table public.mail_settings to authenticated;
grant insert (user_id, notices), update (user_id, notices) on table public.mail_settings to authenticated;
grant all on table public.mail_settings to service_role;

create policy mail_settings_own on public.mail_settings
  for all to authenticated
  using (user_id = (select auth.uid()))
  with check (user_id = (select auth.uid()));
comment on policy mail_settings_own on public.mail_settings is 'Everybody decides for themselves; administrators neither read nor change it.';

create table private.notice_mails (
  id          uuid        not null default gen_random_uuid(),
  user_id     uuid        not null,
  recipient   text,
  subject     text,
  body        text,
  html        text,
  next_try_at timestamptz not null,
  tries       int         not null default 0,
  expires_at  timestamptz,
  done_at     timestamptz,
  last_error  text,
  -- The time of the latest notification in it.
  told_until  timestamptz,

  constraint notice_mails_pkey primary key (id),
  constraint notice_mails_user_id_fkey
    foreign key (user_id) references public.profiles (id) on delete cascade
);
comment on table private.notice_mails is
  'The mail with notices that waits for a person, and when the last one was sent. The contract of the columns is docs/mails.md.';
create index notice_mails_due_idx on private.notice_mails (next_try_at) where done_at is null;
-- One open mail a person: two that are taken at the same moment would both tell the same notices.
create unique index notice_mails_open_key on private.notice_mails (user_id) where done_at is null;
create index notice_mails_user_id_idx on private.notice_mails (user_id);
alter table private.notice_mails enable row level security;
revoke all on table private.notice_mails from public, anon, authenticated;
grant select, update on table private.notice_mails to service_role;

create function private.told_until(person uuid) returns timestamptz
  language sql
  stable
  set search_path = ''
as $$
  select coalesce(max(m.told_until), '-infinity')
  from private.notice_mails as m
  where m.user_id = person and m.done_at is not null and m.last_error is null
$$;
comment on function private.told_until(uuid) is 'Until when the notifications of a person were told by mail.';

create function private.notice_line(notice public.notifications) returns text
  language sql
  stable
  set search_path = ''
as $$
  -- On one line: names of outfits may have line ends in them, which would look like another notice. People have their username, whose
  -- characters are restricted: in a full name, a stranger could write a text and an address of their own into a mail of the site.
  select regexp_replace(
    case notice.kind
      when 'liked' then format('%s likes your outfit "%s".', actor.name, outfit.name)
      when 'followed' then format('%s follows you.', actor.name)
      when 'approved' then format('Your outfit "%s" is published.', outfit.name)
      when 'rejected' then format('Your outfit "%s" was not accepted%s', outfit.name, coalesce(': ' || notice.reason, '.'))
      when 'picture_ready' then format('Your picture with "%s" is ready.', outfit.name)
      when 'picture_failed' then format('Your picture with "%s" could not be made.', outfit.name)
      else 'There is news for you.'
    end, '[[:cntrl:]]+', ' ', 'g')
  from (select) as one
  left join lateral (
    select coalesce('@' || p.username, 'Somebody') as name from public.profiles as p where p.id = notice.actor_id
  ) as actor on true
  left join lateral (select c.name from public.combines as c where c.id = notice.combine_id) as outfit on true
$$;
comment on function private.notice_line(public.notifications) is 'A notification in one sentence on one line.';

create function private.mail_address(person uuid) returns text
  language sql
  stable
  set search_path = ''
as $$
  select u.email from auth.users as u
  where u.id = person and u.email_confirmed_at is not null and u.deleted_at is null
    and coalesce(u.banned_until, '-infinity') < now()
    and not exists (select from public.mail_settings as s where s.user_id = person and not s.notices)
$$;
comment on function private.mail_address(uuid) is 'Where notices for a person are sent; null for nowhere.';

create function private.write_notice_mail() returns trigger
  language plpgsql
  -- Definer: the addresses of people are in auth.users.
  security definer
  set search_path = ''
as $$
declare
  most constant int := 20;
  unread public.notifications[];
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
  new.subject := case cardinality(unread) when 1 then 'News on Lookbook' else format('%s news on Lookbook', cardinality(unread)) end;
  new.body := (
      select string_agg('- ' || private.notice_line(unread[place]), E'\n' order by place)
      from generate_series(1, least(cardinality(unread), most)) as place)
    || case when cardinality(unread) > most then format(E'\n- and %s more', cardinality(unread) - most) else '' end
    || E'\n\nSee all: {{ .SiteURL }}/notifications'
    || E'\n\nYou no longer want these mails? Switch them off: {{ .SiteURL }}/profile-settings#mails\n';
  return new;
end
$$;
comment on function private.write_notice_mail() is
  'Before-update trigger: when the server takes a mail, writes what its person has not read, or ends it when there is nothing to tell.';
revoke execute on function private.write_notice_mail() from public;
create trigger notice_mails_write
  before update of tries on private.notice_mails
  for each row when (new.tries > old.tries and new.done_at is null)
  execute function private.write_notice_mail();

create function private.queue_notice_mail(person uuid, is_decision boolean) returns void
  language plpgsql
  set search_path = ''
as $$
declare
  -- Time to read it on the site first.
  due timestamptz := now() + interval '15 minutes';
begin
  if not is_decision then
    due := greatest(due, private.told_until(person) + interval '1 day');
  end if;
  -- Whoever likes an outfit does not wait for others who do, once a mail is open. One that was taken before is not asked here: it may be
  -- on its way without this notice, and the insert below waits until its outcome is stored.
  if private.mail_address(person) is null
    or exists (
      select from private.notice_mails as m
      where m.user_id = person and m.done_at is null and m.tries = 0 and m.next_try_at <= due)
  then
    return;
  end if;
  insert into private.notice_mails as waiting (user_id, next_try_at, expires_at)
  values (person, due, due + interval '2 days')
  on conflict (user_id) where done_at is null do update
    set next_try_at = excluded.next_try_at, expires_at = excluded.expires_at
    where waiting.tries = 0 and waiting.next_try_at > excluded.next_try_at;
end
$$;
comment on function private.queue_notice_mail(uuid, boolean) is
  'Makes a mail due for a person, or the open one due earlier: a decision about an outfit does not wait for the day.';
revoke execute on function private.queue_notice_mail(uuid, boolean) from public;

create function private.mail_notifications() returns trigger
  language plpgsql
  -- Definer: nobody writes the queue.
  security definer
  set search_path = ''
as $$
declare
  asked record;
begin
  -- In one order, so that two of these never wait for each other.
  for asked in
    select n.user_id, bool_or(n.kind in ('approved', 'rejected')) as is_decision
    from added as n
    group by n.user_id
    order by n.user_id
  loop
    perform private.queue_notice_mail(asked.user_id, asked.is_decision);
  end loop;
  return null;
end
$$;
comment on function private.mail_notifications() is 'After-insert trigger on notifications: a mail is due to those whom they are for.';
revoke execute on function private.mail_notifications() from public;

create trigger notifications_mail
  after insert on public.notifications
  referencing new table as added
  for each statement execute function private.mail_notifications();

create function private.forget_notice_mail() returns trigger
  language plpgsql
  set search_path = ''
as $$
begin
  new.recipient := null;
  new.subject := null;
  new.body := null;
  return new;
end
$$;
comment on function private.forget_notice_mail() is 'Before-update trigger: a mail that was sent or given up keeps neither its address nor its text.';
revoke execute on function private.forget_notice_mail() from public;

create trigger notice_mails_forget
  before update of done_at on private.notice_mails
  for each row when (new.done_at is not null)
  execute function private.forget_notice_mail();

create function private.mail_later_notices() returns trigger
  language plpgsql
  -- Definer: nobody writes the queue.
  security definer
  set search_path = ''
as $$
declare
  is_decision boolean;
begin
  is_decision := (
    select bool_or(n.kind in ('approved', 'rejected')) from public.notifications as n
    where n.user_id = new.user_id and n.read_at is null and n.created_at > new.told_until);
  -- Null when there is none.
  if is_decision is not null then
    perform private.queue_notice_mail(new.user_id, is_decision);
  end if;
  return null;
end
$$;
comment on function private.mail_later_notices() is
  'After-update trigger: what came while a mail was on its way, and is not in it, is told by the next one.';
revoke execute on function private.mail_later_notices() from public;

create trigger notice_mails_sent
  after update of done_at on private.notice_mails
  for each row when (old.done_at is null and new.done_at is not null and new.last_error is null)
  execute function private.mail_later_notices();
