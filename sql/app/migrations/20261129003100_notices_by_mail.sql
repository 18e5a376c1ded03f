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
  'Mails with notices that wait for a person, and the last one that was sent. The contract of the columns is docs/mails.md.';
create index notice_mails_due_idx on private.notice_mails (next_try_at) where done_at is null;
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
  -- On one line: names of people and outfits may have line ends in them, which would look like another notice.
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
    select coalesce(p.full_name, '@' || p.username, 'Somebody') as name from public.profiles as p where p.id = notice.actor_id
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
  new.recipient := private.mail_address(new.user_id);
  unread := array(
    select n from public.notifications as n
    where n.user_id = new.user_id and n.read_at is null and n.created_at > private.told_until(new.user_id)
    order by n.created_at desc, n.id
    limit 1000);
  if new.recipient is null or cardinality(unread) = 0 then
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
  -- Only the last mail says until when everything was told.
  delete from private.notice_mails as m
  where m.user_id = new.user_id and m.id <> new.id and m.done_at < now() - interval '2 days';
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

create function private.mail_notifications() returns trigger
  language plpgsql
  -- Definer: nobody writes the queue.
  security definer
  set search_path = ''
as $$
begin
  insert into private.notice_mails (user_id, next_try_at, expires_at)
  select asked.user_id, asked.due, asked.due + interval '2 days'
  from (
    select n.user_id,
      -- Time to read it on the site first.
      case when bool_or(n.kind in ('approved', 'rejected')) then now() + interval '15 minutes'
        else greatest(now() + interval '15 minutes', private.told_until(n.user_id) + interval '1 day') end as due
    from added as n
    group by n.user_id) as asked
  where private.mail_address(asked.user_id) is not null
    -- Not unique on purpose: two who like outfits of one person at the same moment would wait for each other. The second mail has nothing to tell.
    and not exists (
      select from private.notice_mails as m
      where m.user_id = asked.user_id and m.done_at is null and m.next_try_at <= asked.due);
  return null;
end
$$;
comment on function private.mail_notifications() is 'After-insert trigger on notifications: a mail is due to those whom they are for.';
revoke execute on function private.mail_notifications() from public;

create trigger notifications_mail
  after insert on public.notifications
  referencing new table as added
  for each statement execute function private.mail_notifications();
