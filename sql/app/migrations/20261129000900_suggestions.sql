-- What the dashboard offers to a signed-in person: what resembles an outfit that they liked, and the words that many outfits have.

create function public.suggested_outfits(liked_id uuid, max_results int default 8)
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
    and r.id <> all (array(
      select l.combine_id from public.likes as l where l.user_id = auth.uid() and l.combine_id is not null))
  limit least(greatest(max_results, 0), 100)
$$;
comment on function public.suggested_outfits(uuid, int) is
  'Outfits that resemble one which the caller likes, without their own and those that they like already, closest first.';
revoke execute on function public.suggested_outfits(uuid, int) from public, anon;
grant execute on function public.suggested_outfits(uuid, int) to authenticated;

create function public.frequent_words(max_results int default 8)
  returns table (kind text, name text, hex_code text)
  language sql
  stable
  -- Definer: the index of outfits is private, and holds approved ones only.
  security definer
  set search_path = ''
as $$
  -- Of the newest outfits, so that the time does not grow with their number.
  with newest as materialized (
    select o.styles, o.colors, o.brands from private.outfit_index as o order by o.created_at desc, o.combine_id limit 1000
  ),
  counted as (
    select 'style' as kind, id, count(*) as outfits from newest, unnest(styles) as id group by id
    union all
    select 'color', id, count(*) from newest, unnest(colors) as id group by id
    union all
    select 'brand', id, count(*) from newest, unnest(brands) as id group by id
  ),
  named as (
    select c.kind, c.outfits, coalesce(s.name, k.name, b.name) as name, k.hex_code
    from counted as c
    left join public.outfit_styles as s on c.kind = 'style' and s.id = c.id
    left join public.colors as k on c.kind = 'color' and k.id = c.id
    left join public.brands as b on c.kind = 'brand' and b.id = c.id
  ),
  ranked as (
    select n.*, row_number() over (partition by n.kind order by n.outfits desc, n.name) as place
    from named as n where n.name is not null
  )
  select r.kind, r.name, r.hex_code
  from ranked as r
  where r.place <= least(greatest(max_results, 0), 50)
  order by r.kind, r.place
$$;
comment on function public.frequent_words(int) is
  'Styles, colors and brands of the newest outfits, the most frequent first: entries to Discovery.';
