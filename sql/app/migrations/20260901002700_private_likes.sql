-- Who liked an outfit is private; the number of its likes is public. The numbers are therefore in a table of their own, which
-- everybody may read and which embeds in outfits by its foreign key. Counting rows in each request would need read access to
-- all likes, and time that grows with their number.

create table public.like_counts (
  combine_id uuid not null,
  likes      int  not null default 0,

  constraint like_counts_pkey primary key (combine_id),
  constraint like_counts_combine_id_fkey
    foreign key (combine_id) references public.combines (id) on delete cascade,
  constraint like_counts_not_negative check (likes >= 0)
);
comment on table public.like_counts is
  'Number of likes of each outfit that was ever liked; kept by a trigger on likes.';

alter table public.like_counts enable row level security;
revoke all on table public.like_counts from anon, authenticated;
grant select on table public.like_counts to anon, authenticated;
grant all on table public.like_counts to service_role;

create policy like_counts_select_all on public.like_counts
  for select to anon, authenticated
  using (true);
comment on policy like_counts_select_all on public.like_counts is
  'Counts are public. Nobody but the trigger writes them.';

create function private.count_like() returns trigger
  language plpgsql
  -- Security definer: no user may write the counts, not even for their own like.
  security definer
  set search_path = ''
as $$
begin
  if tg_op = 'INSERT' and new.combine_id is not null then
    insert into public.like_counts as counted (combine_id, likes) values (new.combine_id, 1)
    on conflict (combine_id) do update set likes = counted.likes + 1;
  elsif tg_op = 'DELETE' and old.combine_id is not null then
    -- When the outfit itself is deleted, its count may be gone already.
    update public.like_counts set likes = likes - 1 where combine_id = old.combine_id;
  end if;
  return null;
end
$$;
comment on function private.count_like() is
  'After-write trigger: keeps like_counts.';

insert into public.like_counts (combine_id, likes)
select combine_id, count(*) from public.likes where combine_id is not null group by combine_id;

create trigger likes_count
  after insert or delete on public.likes
  for each row execute function private.count_like();

drop policy likes_select_all on public.likes;
-- Visitors keep the SELECT grant although no policy shows them a row, so that a query that embeds likes still
-- succeeds.
create policy likes_select_own_or_admin on public.likes
  for select to authenticated
  using (user_id = (select auth.uid()) or (select public.is_admin_role()));
comment on policy likes_select_own_or_admin on public.likes is
  'Likes as rows are readable by who gave them and by administrators.';
comment on table public.likes is
  'One like per user and target: an outfit (combine_id) or an item (product_id). Rows are private; like_counts has the public numbers.';

create or replace function public.top_outfits(since timestamptz default null, max_results int default 50)
  returns setof public.combines
  language sql
  stable
  -- Without a `set` clause and without `security definer`, so the planner can inline it and the caller's
  -- policies apply.
as $$
  select c.*
  from public.combines as c
  left join public.like_counts as counted on counted.combine_id = c.id
  where c.status = 'approved' and (since is null or c.created_at >= since)
  order by coalesce(counted.likes, 0) desc, c.created_at desc, c.id
  limit least(greatest(max_results, 0), 100)
$$;
