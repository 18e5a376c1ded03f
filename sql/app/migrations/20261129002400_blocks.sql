-- Blocking a person: they no longer follow, notify, or are suggested.

create table public.blocks (
  blocker_id uuid        not null default auth.uid(),
  blocked_id uuid        not null,
  created_at timestamptz not null default now(),

  constraint blocks_pkey primary key (blocker_id, blocked_id),
  constraint blocks_blocker_id_fkey
    foreign key (blocker_id) references public.profiles (id) on delete cascade,
  constraint blocks_blocked_id_fkey
    foreign key (blocked_id) references public.profiles (id) on delete cascade,
  constraint blocks_others check (blocker_id <> blocked_id),
  constraint blocks_created_at_finite check (isfinite(created_at))
);
comment on table public.blocks is
  'Who has blocked whom. Read by the blocker alone: nobody is told that they are blocked.';
-- For the cascade, and for what a blocked person tries.
create index blocks_blocked_id_idx on public.blocks (blocked_id);

alter table public.blocks enable row level security;
revoke all on table public.blocks from anon, authenticated;
grant select, delete on table public.blocks to authenticated;
grant insert (blocker_id, blocked_id) on table public.blocks to authenticated;
grant all on table public.blocks to service_role;

create policy blocks_own on public.blocks
  for all to authenticated
  using (blocker_id = (select auth.uid()))
  with check (blocker_id = (select auth.uid()));
comment on policy blocks_own on public.blocks is 'The blocker alone; administrators neither.';

create function private.part_blocked() returns trigger
  language plpgsql
  -- Security definer: the rows of the other person, too.
  security definer
  set search_path = ''
as $$
begin
  -- Blocks of one person wait for each other, because they could otherwise pass the limit together.
  perform from public.profiles as p where p.id = new.blocker_id for no key update;
  if (select count(*) from public.blocks as b where b.blocker_id = new.blocker_id) > 1000 then
    raise exception 'You have blocked 1000 people. Unblock one of them first.'
      using errcode = 'check_violation', constraint = 'blocks_limit', schema = 'public', table = 'blocks';
  end if;
  delete from public.follows as f
  where (f.follower_id, f.followed_id) in ((new.blocker_id, new.blocked_id), (new.blocked_id, new.blocker_id));
  delete from public.notifications as n where n.user_id = new.blocker_id and n.actor_id = new.blocked_id;
  return null;
end
$$;
comment on function private.part_blocked() is
  'After-insert trigger: the two no longer follow each other, and what the blocked one did leaves the notifications.';
revoke execute on function private.part_blocked() from public;

-- After the policy has refused to block in somebody else's name.
create trigger blocks_part
  after insert on public.blocks
  for each row when (new.blocker_id = auth.uid())
  execute function private.part_blocked();

create function private.refuse_blocked_follow() returns trigger
  language plpgsql
  security definer
  set search_path = ''
as $$
begin
  if exists (
    select from public.blocks as b
    where (b.blocker_id, b.blocked_id)
      in ((new.follower_id, new.followed_id), (new.followed_id, new.follower_id)))
  then
    raise exception 'You cannot follow this person.'
      using errcode = 'check_violation', constraint = 'follows_not_blocked', schema = 'public', table = 'follows';
  end if;
  return null;
end
$$;
comment on function private.refuse_blocked_follow() is 'After-insert trigger: where one has blocked the other, neither follows.';
revoke execute on function private.refuse_blocked_follow() from public;

-- After the policy has refused to follow in somebody else's name, who could otherwise try out which people have blocked each other.
create trigger follows_blocked
  after insert on public.follows
  for each row when (new.follower_id = auth.uid())
  execute function private.refuse_blocked_follow();

create function private.leave_out_blocked() returns trigger
  language plpgsql
  security definer
  set search_path = ''
as $$
begin
  if exists (
    select from public.blocks as b where b.blocker_id = new.user_id and b.blocked_id = new.actor_id)
  then
    return null;
  end if;
  return new;
end
$$;
comment on function private.leave_out_blocked() is 'Before-insert trigger: nobody is told what somebody does whom they have blocked.';
revoke execute on function private.leave_out_blocked() from public;

create trigger notifications_leave_out_blocked
  before insert on public.notifications
  for each row when (new.actor_id is not null)
  execute function private.leave_out_blocked();

create or replace function public.suggested_outfits(liked_id uuid, max_results int default 8)
  returns setof public.combines
  language sql
  stable
  -- Definer as related_outfits, which states the public policy itself.
  security definer
  set search_path = ''
as $$
  -- In the order of related_outfits: a filter keeps it, a join would not.
  select r.*
  from public.related_outfits(liked_id, 100) as r
  where r.user_id is distinct from auth.uid()
    and (r.user_id is null
      or r.user_id <> all (array(select b.blocked_id from public.blocks as b where b.blocker_id = auth.uid())))
    and r.id <> all (array(
      select l.combine_id from public.likes as l where l.user_id = auth.uid() and l.combine_id is not null))
  limit least(greatest(max_results, 0), 100)
$$;
comment on function public.suggested_outfits(uuid, int) is
  'Outfits that resemble one which the caller likes, without their own, those that they like already and those of people they have blocked, closest first.';
