-- The id of an outfit is no secret: it was in every list while the outfit was listed. An unlisted outfit is found by a link of its own, which
-- its creator alone is told. It can be reported by whoever has seen it. And nobody learns by a refusal that they are blocked.

create table private.unlisted_links (
  combine_id uuid not null,
  link       uuid not null default gen_random_uuid(),

  constraint unlisted_links_pkey primary key (combine_id),
  constraint unlisted_links_link_key unique (link),
  constraint unlisted_links_combine_id_fkey
    foreign key (combine_id) references public.combines (id) on delete cascade
);
comment on table private.unlisted_links is
  'By which link an unlisted outfit is found. An outfit that is listed and unlisted again gets another one.';
alter table private.unlisted_links enable row level security;
revoke all on table private.unlisted_links from public, anon, authenticated;
insert into private.unlisted_links (combine_id) select c.id from public.combines as c where c.status = 'unlisted';

create function private.link_unlisted() returns trigger
  language plpgsql
  security definer
  set search_path = ''
as $$
begin
  if new.status = 'unlisted' then
    insert into private.unlisted_links (combine_id) values (new.id) on conflict do nothing;
  else
    delete from private.unlisted_links as l where l.combine_id = new.id;
  end if;
  return null;
end
$$;
comment on function private.link_unlisted() is 'After-write trigger on combines: an outfit has a link as long as it is unlisted.';
revoke execute on function private.link_unlisted() from public;

create trigger combines_link_inserted
  after insert on public.combines
  for each row when (new.status = 'unlisted')
  execute function private.link_unlisted();
create trigger combines_link_updated
  after update of status on public.combines
  for each row when (old.status <> new.status and 'unlisted' in (old.status, new.status))
  execute function private.link_unlisted();

drop function public.unlisted_outfit(uuid);
create function public.unlisted_outfit(link uuid) returns setof public.combines
  language sql
  stable
  -- Definer: the policies show an unlisted outfit to its creator alone, so that nobody lists them.
  security definer
  set search_path = ''
as $$
  select shown.*
  from private.unlisted_links as l
  join public.combines as c on c.id = l.combine_id and c.status = 'unlisted'
  cross join lateral private.without_reviewer(c) as shown
  where l.link = unlisted_outfit.link
$$;
comment on function public.unlisted_outfit(uuid) is 'The unlisted outfit with this link.';

create function public.unlisted_link(outfit_id uuid) returns uuid
  language sql
  stable
  security definer
  set search_path = ''
as $$
  select l.link
  from private.unlisted_links as l
  join public.combines as c on c.id = l.combine_id
  where l.combine_id = outfit_id and c.user_id = auth.uid()
$$;
comment on function public.unlisted_link(uuid) is 'The link of an unlisted outfit of the caller; null for others.';
revoke execute on function public.unlisted_link(uuid) from public, anon;
grant execute on function public.unlisted_link(uuid) to authenticated;

-- Numbers of likes told the ids of outfits that nobody sees.
drop policy like_counts_select_all on public.like_counts;
create policy like_counts_select_visible on public.like_counts
  for select to anon, authenticated
  -- The subquery is subject to the caller's policies.
  using (exists (select from public.combines as c where c.id = combine_id));
comment on policy like_counts_select_visible on public.like_counts is
  'Everybody reads the number of likes of each outfit that they may see; whose likes they are is private.';

create function private.is_unlisted_of_other(combine_id uuid) returns boolean
  language sql
  stable
  security definer
  set search_path = ''
as $$
  select exists (
    select from public.combines as c
    where c.id = is_unlisted_of_other.combine_id and c.status = 'unlisted' and c.user_id is distinct from auth.uid())
$$;
comment on function private.is_unlisted_of_other(uuid) is
  'Whether this is an unlisted outfit of somebody else: who has its link may report it.';

drop policy reports_insert_own on public.reports;
create policy reports_insert_own on public.reports
  for insert to authenticated
  with check (
    reporter_id = (select auth.uid())
    -- The subqueries are subject to the caller's policies, so that nobody finds out which ids exist.
    and (combine_id is null
      or exists (select from public.combines as c where c.id = combine_id and c.user_id is distinct from (select auth.uid()))
      or private.is_unlisted_of_other(combine_id))
    and (profile_id is null or exists (select from public.profiles as p where p.id = profile_id)));
comment on policy reports_insert_own on public.reports is
  'Everybody reports in their own name what they may see, and not themselves.';

drop trigger follows_blocked on public.follows;
create or replace function private.refuse_blocked_follow() returns trigger
  language plpgsql
  security definer
  set search_path = ''
as $$
begin
  -- A block and a follow of the same two wait for each other.
  perform from public.profiles as p where p.id in (new.follower_id, new.followed_id) order by p.id for share;
  if exists (
    select from public.blocks as b where b.blocker_id = new.follower_id and b.blocked_id = new.followed_id)
  then
    raise exception 'You have blocked this person. Unblock them first.'
      using errcode = 'check_violation', constraint = 'follows_not_blocked', schema = 'public', table = 'follows';
  end if;
  if exists (
    select from public.blocks as b where b.blocker_id = new.followed_id and b.blocked_id = new.follower_id)
  then
    -- Nothing is stored and nothing said: a refusal would tell that one is blocked.
    return null;
  end if;
  return new;
end
$$;
comment on function private.refuse_blocked_follow() is
  'Before-insert trigger: nobody follows whom they have blocked, and the follow of a blocked person is left out.';

-- In one's own name only: the policy refuses others, and says nothing about blocks.
create trigger follows_blocked
  before insert on public.follows
  for each row when (new.follower_id = auth.uid())
  execute function private.refuse_blocked_follow();
