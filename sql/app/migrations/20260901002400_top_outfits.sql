-- The ranking in one call. The site's own query (approved outfits with embedded likes, sorted in
-- the browser) keeps working, but ranks only the 100 candidates that it fetched.

create function public.top_outfits(since timestamptz default null, max_results int default 50)
  returns setof public.combines
  language sql
  stable
  -- Without a `set` clause and without `security definer`, so the planner can inline it and the caller's
  -- policies apply.
as $$
  select c.*
  from public.combines as c
  left join (
    select l.combine_id, count(*) as likes
    from public.likes as l
    where l.combine_id is not null
    group by l.combine_id
  ) as liked on liked.combine_id = c.id
  where c.status = 'approved' and (since is null or c.created_at >= since)
  order by coalesce(liked.likes, 0) desc, c.created_at desc, c.id
  limit least(greatest(max_results, 0), 100)
$$;
comment on function public.top_outfits(timestamptz, int) is
  'Approved outfits created since the given time (all when null), most liked first, at most 100.';
