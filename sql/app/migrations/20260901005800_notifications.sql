-- What a creator is told: somebody liked an outfit, an administrator approved or rejected it.

create table public.notifications (
  id         uuid        not null default gen_random_uuid(),
  user_id    uuid        not null,
  kind       text        not null,
  combine_id uuid        not null,
  actor_id   uuid,
  reason     text,
  read_at    timestamptz,
  created_at timestamptz not null default now(),

  constraint notifications_pkey primary key (id),
  constraint notifications_user_id_fkey
    foreign key (user_id) references public.profiles (id) on delete cascade,
  constraint notifications_combine_id_fkey
    foreign key (combine_id) references public.combines (id) on delete cascade,
  constraint notifications_actor_id_fkey
    foreign key (actor_id) references public.profiles (id) on delete cascade,
  constraint notifications_kind_known check (kind in ('liked', 'approved', 'rejected')),
  constraint notifications_actor_of_like check ((actor_id is not null) = (kind = 'liked')),
  constraint notifications_reason_of_rejection check (reason is null or kind = 'rejected')
);

comment on table public.notifications is
  'Written by triggers on likes and reviews. Only the addressee reads them and marks them as read.';
comment on column public.notifications.user_id is 'The addressee: the creator of the outfit.';
comment on column public.notifications.actor_id is 'Who liked the outfit; null for reviews.';
comment on column public.notifications.reason is
  'Why the outfit was rejected. A copy, as the outfit loses its reason when it is submitted again.';
comment on column public.notifications.read_at is 'When the addressee marked it as read; set by the server.';

-- One notification per person and outfit, however often somebody takes a like back and gives it again.
create unique index notifications_liked_key on public.notifications (combine_id, actor_id) where kind = 'liked';
-- The addressee's page, newest first, and their number of unread ones.
create index notifications_user_id_created_at_idx on public.notifications (user_id, created_at desc, id);
create index notifications_unread_idx on public.notifications (user_id) where read_at is null;
-- For the cascades of outfits and profiles.
create index notifications_combine_id_idx on public.notifications (combine_id);
create index notifications_actor_id_idx on public.notifications (actor_id) where actor_id is not null;

alter table public.notifications enable row level security;
revoke all on table public.notifications from anon, authenticated;
grant select on table public.notifications to authenticated;
-- One column: everything else of a notification is a fact.
grant update (read_at) on table public.notifications to authenticated;
grant all on table public.notifications to service_role;

create policy notifications_select_own on public.notifications
  for select to authenticated
  using (user_id = (select auth.uid()));
comment on policy notifications_select_own on public.notifications is
  'Nobody but the addressee, administrators neither: a notification names who liked.';

create policy notifications_update_own on public.notifications
  for update to authenticated
  using (user_id = (select auth.uid()))
  with check (user_id = (select auth.uid()));
comment on policy notifications_update_own on public.notifications is
  'The addressee marks them as read.';

create function private.mark_notification_read() returns trigger
  language plpgsql
  set search_path = ''
as $$
begin
  new.read_at := coalesce(old.read_at, now());
  return new;
end
$$;
comment on function private.mark_notification_read() is
  'Before-update trigger: the time of reading is the server''s, and the first reading counts.';

create trigger notifications_mark_read
  before update of read_at on public.notifications
  for each row execute function private.mark_notification_read();

create function private.notify_of_like() returns trigger
  language plpgsql
  -- Security definer: nobody may write notifications.
  security definer
  set search_path = ''
as $$
begin
  insert into public.notifications (user_id, kind, combine_id, actor_id, created_at)
  select c.user_id, 'liked', c.id, new.user_id, new.created_at
  from public.combines as c
  where c.id = new.combine_id and c.user_id <> new.user_id
  on conflict do nothing;
  return null;
end
$$;
comment on function private.notify_of_like() is
  'After-insert trigger on likes: tells the creator of the outfit, unless it is their own like.';

create trigger likes_notify
  after insert on public.likes
  for each row when (new.combine_id is not null)
  execute function private.notify_of_like();

create function private.notify_of_review() returns trigger
  language plpgsql
  -- Security definer: nobody may write notifications.
  security definer
  set search_path = ''
as $$
begin
  insert into public.notifications (user_id, kind, combine_id, reason)
  values (new.user_id, new.status, new.id, new.rejection_reason);
  return null;
end
$$;
comment on function private.notify_of_review() is
  'After-update trigger on combines: tells the creator how the review went, unless they reviewed it themselves.';

create trigger combines_notify_review
  after update of status on public.combines
  for each row when (
    old.status is distinct from new.status and new.status in ('approved', 'rejected')
    and new.user_id is not null and new.approved_by is distinct from new.user_id)
  execute function private.notify_of_review();
