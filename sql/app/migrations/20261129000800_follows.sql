-- Following creators: their newest outfits are a section of the dashboard, and they are told of a new follower.

create table public.follows (
  follower_id uuid        not null default auth.uid(),
  followed_id uuid        not null,
  created_at  timestamptz not null default now(),

  constraint follows_pkey primary key (follower_id, followed_id),
  constraint follows_follower_id_fkey
    foreign key (follower_id) references public.profiles (id) on delete cascade,
  constraint follows_followed_id_fkey
    foreign key (followed_id) references public.profiles (id) on delete cascade,
  constraint follows_others check (follower_id <> followed_id),
  constraint follows_created_at_finite check (isfinite(created_at))
);
comment on table public.follows is
  'Who follows whom. Read by the two of them; everybody reads the numbers (profile_numbers).';
-- For the number of followers, and for the cascade.
create index follows_followed_id_idx on public.follows (followed_id);

alter table public.follows enable row level security;
revoke all on table public.follows from anon, authenticated;
grant select, delete on table public.follows to authenticated;
grant insert (follower_id, followed_id) on table public.follows to authenticated;
grant all on table public.follows to service_role;

create policy follows_select_own on public.follows
  for select to authenticated
  using ((select auth.uid()) in (follower_id, followed_id));
comment on policy follows_select_own on public.follows is
  'Both sides: the followed one is told by a notification anyway. Administrators neither.';

create policy follows_insert_own on public.follows
  for insert to authenticated
  with check (follower_id = (select auth.uid()));

create policy follows_delete_own on public.follows
  for delete to authenticated
  using (follower_id = (select auth.uid()));

alter table private.asked_for drop constraint asked_for_kind_known;
alter table private.asked_for add constraint asked_for_kind_known check (kind in ('submission', 'picture', 'follow'));

create function private.limit_follows() returns trigger
  language plpgsql
  security definer
  set search_path = ''
as $$
begin
  if private.count_daily(new.follower_id, 'follow') > 300 then
    raise exception 'You have followed 300 people within a day. Follow the next one tomorrow.'
      using errcode = 'check_violation', constraint = 'follows_daily_limit', schema = 'public', table = 'follows';
  end if;
  if (select count(*) from public.follows as f where f.follower_id = new.follower_id) > 2000 then
    raise exception 'You follow 2000 people. Take one of them out first.'
      using errcode = 'check_violation', constraint = 'follows_kept_limit', schema = 'public', table = 'follows';
  end if;
  return null;
end
$$;
comment on function private.limit_follows() is
  'After-insert trigger: nobody follows everybody to be noticed.';
revoke execute on function private.limit_follows() from public;

-- After the policy has refused to follow in somebody else's name.
create trigger follows_limit
  after insert on public.follows
  for each row when (new.follower_id = auth.uid())
  execute function private.limit_follows();

-- The notification of a follower is about a person and not about an outfit.
alter table public.notifications alter column combine_id drop not null;
alter table public.notifications drop constraint notifications_kind_known;
alter table public.notifications add constraint notifications_kind_known
  check (kind in ('liked', 'approved', 'rejected', 'picture_ready', 'picture_failed', 'followed'));
alter table public.notifications drop constraint notifications_actor_of_like;
alter table public.notifications add constraint notifications_actor_of_like
  check ((actor_id is not null) = (kind in ('liked', 'followed')));
alter table public.notifications add constraint notifications_outfit_known
  check ((combine_id is null) = (kind = 'followed'));
comment on column public.notifications.actor_id is 'Who liked the outfit or follows the addressee; null for the others.';
-- One notification per follower, however often they come and go.
create unique index notifications_followed_key on public.notifications (user_id, actor_id) where kind = 'followed';

create function private.notify_of_follow() returns trigger
  language plpgsql
  -- Security definer: nobody may write notifications.
  security definer
  set search_path = ''
as $$
begin
  insert into public.notifications (user_id, kind, actor_id, created_at)
  values (new.followed_id, 'followed', new.follower_id, new.created_at)
  on conflict do nothing;
  return null;
end
$$;
comment on function private.notify_of_follow() is 'After-insert trigger on follows: tells the one who is followed.';
revoke execute on function private.notify_of_follow() from public;

create trigger follows_notify
  after insert on public.follows
  for each row execute function private.notify_of_follow();

create function public.followed_outfits(page_offset int default 0, max_results int default 24)
  returns setof public.combines
  language sql
  stable
  -- Definer, because the policy would be asked for each row; it states the public one itself.
  security definer
  set search_path = ''
as $$
  select shown.*
  from public.combines as c
  cross join lateral private.without_reviewer(c) as shown
  where c.status = 'approved'
    and c.user_id in (select f.followed_id from public.follows as f where f.follower_id = auth.uid())
  order by c.created_at desc, c.id
  offset greatest(page_offset, 0)
  limit least(greatest(max_results, 0), 100)
$$;
comment on function public.followed_outfits(int, int) is
  'Approved outfits of those whom the caller follows, newest first.';
revoke execute on function public.followed_outfits(int, int) from public, anon;
grant execute on function public.followed_outfits(int, int) to authenticated;

create function public.profile_numbers(profile_id uuid)
  returns table (outfits int, likes int, followers int, following int)
  language sql
  stable
  -- Definer: counted here, so that no row has a number that somebody could write.
  security definer
  set search_path = ''
as $$
  select
    (select count(*)::int from public.combines as c where c.user_id = profile_id and c.status = 'approved'),
    (select coalesce(sum(n.likes), 0)::int
     from public.combines as c join public.like_counts as n on n.combine_id = c.id
     where c.user_id = profile_id and c.status = 'approved'),
    (select count(*)::int from public.follows as f where f.followed_id = profile_id),
    (select count(*)::int from public.follows as f where f.follower_id = profile_id)
$$;
comment on function public.profile_numbers(uuid) is
  'How many published outfits a creator has and how often those are liked, how many follow the creator and whom the creator follows.';

create function public.outfit_saves(outfit_id uuid) returns int
  language sql
  stable
  -- Definer: bookmarks are private, and their number is told to the creator alone.
  security definer
  set search_path = ''
as $$
  select case when exists (select from public.combines as c where c.id = outfit_id and c.user_id = auth.uid())
    then (select count(*)::int from public.bookmarks as b where b.combine_id = outfit_id) end
$$;
comment on function public.outfit_saves(uuid) is
  'How many people have bookmarked an outfit of the caller; null for outfits of others.';
revoke execute on function public.outfit_saves(uuid) from public, anon;
grant execute on function public.outfit_saves(uuid) to authenticated;

create or replace function public.export_my_data() returns jsonb
  language plpgsql
  stable
  set search_path = ''
  -- The caller's policies apply, and every list names its owner: administrators see more rows than their own.
as $$
declare
  me constant uuid := auth.uid();
begin
  if me is null then
    raise exception 'Sign in to export your data.' using errcode = 'insufficient_privilege';
  end if;
  return jsonb_build_object(
    'exported_at', now(),
    'account', jsonb_build_object('id', me, 'email', auth.jwt() ->> 'email', 'phone', auth.jwt() ->> 'phone'),
    'profile', (select to_jsonb(p) from public.profiles as p where p.id = me),
    'outfits', (
      select coalesce(jsonb_agg(to_jsonb(c) order by c.created_at, c.id), '[]')
      from public.combines as c where c.user_id = me),
    'likes', (
      select coalesce(jsonb_agg(to_jsonb(l) order by l.created_at, l.id), '[]')
      from public.likes as l where l.user_id = me),
    'bookmarks', (
      select coalesce(jsonb_agg(to_jsonb(b) order by b.created_at, b.id), '[]')
      from public.bookmarks as b where b.user_id = me),
    'follows', (
      -- Whom the user follows, and who follows the user: both are about the user.
      select coalesce(jsonb_agg(to_jsonb(f) order by f.created_at, f.follower_id, f.followed_id), '[]')
      from public.follows as f where me in (f.follower_id, f.followed_id)),
    'training_images', (
      select coalesce(jsonb_agg(to_jsonb(t) order by t.image_order), '[]')
      from public.user_training_images as t where t.user_id = me),
    'notifications', (
      select coalesce(jsonb_agg(to_jsonb(n) order by n.created_at, n.id), '[]')
      from public.notifications as n where n.user_id = me),
    'generated_pictures', (
      -- The columns that their owner may read; the others say how the server works.
      select coalesce(jsonb_agg(
        jsonb_build_object(
          'id', g.id, 'combine_id', g.combine_id, 'title', g.title, 'status', g.status, 'error', g.error,
          'bucket', g.result_bucket, 'name', g.result_name, 'is_preview', g.result_is_preview,
          'created_at', g.created_at, 'finished_at', g.finished_at)
        order by g.created_at, g.id), '[]')
      from public.generated_pictures as g where g.user_id = me),
    'files', (
      select coalesce(jsonb_agg(
        jsonb_build_object('bucket', o.bucket_id, 'name', o.name) order by o.bucket_id, o.name), '[]')
      from storage.objects as o where private.is_own_object(o.bucket_id, o.name)));
end
$$;
