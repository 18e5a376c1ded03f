-- Visitors see outfits and profiles, and not which accounts are administrators: these are the accounts worth attacking. Signed-in
-- people keep both columns, because the site reads the role of one's own profile with its other columns.

revoke select on table public.profiles from anon;
grant select (
  id, username, full_name, avatar_url, bio, instagram_url, twitter_url, website_url, created_at, updated_at)
  on table public.profiles to anon;

revoke select on table public.combines from anon;
grant select (
  id, user_id, name, description, meta_description, main_image, main_image_color, image_alt, gender, item_ids, outfit_styles,
  colors, slug, status, created_by_admin, approved_at, created_at, updated_at, rejection_reason)
  on table public.combines to anon;

-- Functions answer whole rows, without these two columns.

create function private.without_reviewer(outfit public.combines) returns public.combines
  language plpgsql
  immutable
  set search_path = ''
as $$
begin
  outfit.approved_by := null;
  return outfit;
end
$$;
comment on function private.without_reviewer(public.combines) is 'The outfit without who reviewed it.';

create function private.without_role(profile public.profiles) returns public.profiles
  language plpgsql
  immutable
  set search_path = ''
as $$
begin
  profile.role := null;
  return profile;
end
$$;
comment on function private.without_role(public.profiles) is 'The profile without its role.';

create or replace function public.outfits_with_item(item_id uuid) returns setof public.combines
  language sql
  stable
  security definer
  set search_path = ''
as $$
  select shown.*
  from public.combines as c
  cross join lateral private.without_reviewer(c) as shown
  where c.status = 'approved' and c.item_ids @> array[item_id]
  order by c.created_at desc, c.id
$$;

create or replace function public.outfits_with_brand(brand_id uuid) returns setof public.combines
  language sql
  stable
  security definer
  set search_path = ''
as $$
  select shown.*
  from public.combines as c
  cross join lateral private.without_reviewer(c) as shown
  where c.status = 'approved'
    and c.item_ids && array(select i.id from public.items as i where i.brand_id = outfits_with_brand.brand_id)
  order by c.created_at desc, c.id
$$;

create or replace function public.related_outfits(outfit_id uuid, max_results int default 12)
  returns setof public.combines
  language sql
  stable
  security definer
  set search_path = ''
as $$
  with subject as (
    select * from public.combines as c where c.id = outfit_id and c.status = 'approved'
  ),
  -- The newest few hundred of each kind are ranked, so that the time does not grow with the catalogue.
  candidates as (
    (select c.id from public.combines as c, subject as s
     where c.status = 'approved' and c.item_ids && s.item_ids
     order by c.created_at desc limit 300)
    union
    (select c.id from public.combines as c, subject as s
     where c.status = 'approved' and c.outfit_styles && s.outfit_styles
     order by c.created_at desc limit 300)
  )
  select shown.*
  from candidates
  join public.combines as c on c.id = candidates.id
  cross join subject as s
  cross join lateral private.without_reviewer(c) as shown
  where c.id <> s.id
    -- The creator's own outfits are a list of their own on the page.
    and c.user_id is distinct from s.user_id
    and (c.gender = s.gender or 'unisex' in (c.gender, s.gender))
  order by
    3 * private.count_shared(c.item_ids, s.item_ids)
      + 2 * private.count_shared(c.outfit_styles, s.outfit_styles)
      + private.count_shared(c.colors, s.colors) desc,
    c.created_at desc, c.id
  limit least(greatest(max_results, 0), 100)
$$;

create or replace function public.top_outfits(since timestamptz default null, max_results int default 50)
  returns setof public.combines
  language sql
  stable
  -- Security definer, because visitors may not read whole rows; it states the public policy itself.
  security definer
  set search_path = ''
as $$
  select shown.*
  from (
    select c as outfit, coalesce(counted.likes, 0) as likes
    from public.combines as c
    left join public.like_counts as counted on counted.combine_id = c.id
    where c.status = 'approved' and (since is null or c.created_at >= since)
    order by coalesce(counted.likes, 0) desc, c.created_at desc, c.id
    limit least(greatest(max_results, 0), 100)
  ) as top
  cross join lateral private.without_reviewer(top.outfit) as shown
  order by top.likes desc, shown.created_at desc, shown.id
$$;

create or replace function public.search_outfits(
  term        text    default '',
  genders     text[]  default null,
  categories  text[]  default null,
  brands      text[]  default null,
  styles      text[]  default null,
  colors      text[]  default null,
  min_price   numeric default null,
  max_price   numeric default null,
  page_offset int     default 0,
  max_results int     default 50
)
  returns setof public.combines
  language plpgsql
  stable
  -- Definer, because it states the public policy itself: the index holds approved outfits only, for everybody. As a filter under
  -- row security, `ilike` and `&&` are not leakproof and would run after the policy, row by row.
  security definer
  set search_path = ''
  -- A rare term is found by its index, a common one by walking the newest: the planner can choose only when it sees the values.
  -- Conditions on arguments that are null disappear from the plan.
  set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_variable
declare
  is_search constant boolean := btrim(coalesce(term, '')) <> '';
  pattern   constant text := private.contains_pattern(lower(coalesce(term, '')));
  wanted    constant int := least(greatest(max_results, 0), 100);
  skipped   constant int := greatest(page_offset, 0);
  of_categories constant uuid[] := private.ids_named('categories', categories);
  of_brands     constant uuid[] := private.ids_named('brands', brands);
  of_styles     constant uuid[] := private.ids_named('outfit_styles', styles);
  of_colors     constant uuid[] := private.ids_named('colors', colors);
  found_brands uuid[];
  found_styles uuid[];
  found_colors uuid[];
begin
  if is_search then
    found_brands := array(select id from public.brands where name ilike pattern);
    found_styles := array(select id from public.outfit_styles where name ilike pattern);
    found_colors := array(select id from public.colors where name ilike pattern);
  end if;
  return query
    with filtered as not materialized (
      select * from private.outfit_index as o
      where (genders is null or o.gender = any (genders))
        and (of_categories is null or o.categories && of_categories)
        and (of_brands is null or o.brands && of_brands)
        and (of_styles is null or o.styles && of_styles)
        and (of_colors is null or o.colors && of_colors)
        and (min_price is null or o.price >= min_price)
        and (max_price is null or o.price <= max_price)
    ),
    hits as (
      (select 0 as rank, f.combine_id, f.created_at from filtered as f
       where not is_search or f.name like pattern
       order by f.created_at desc, f.combine_id limit skipped + wanted)
      union all
      (select 1, f.combine_id, f.created_at from filtered as f
       where is_search and f.name not like pattern
         and (f.brands && found_brands or f.styles && found_styles or f.colors && found_colors)
       order by f.created_at desc, f.combine_id limit skipped + wanted)
      order by rank, created_at desc, combine_id offset skipped limit wanted
    )
    select shown.*
    from hits join public.combines as c on c.id = hits.combine_id
    cross join lateral private.without_reviewer(c) as shown
    order by hits.rank, hits.created_at desc, hits.combine_id;
end
$$;

create or replace function public.profile_by_username(name text) returns setof public.profiles
  language sql
  stable
  rows 1
  -- Security definer, because visitors may not read whole rows. Profiles are public.
  security definer
  set search_path = ''
as $$
  select shown.*
  from public.profiles as p cross join lateral private.without_role(p) as shown
  -- The expression of the unique index, which `ilike` could not use.
  where lower(p.username) = lower(name)
$$;

-- The pages read whole rows, too, and show named columns of approved outfits and of profiles.
alter function private.describe_home() security definer;
alter function private.describe_outfit(text) security definer;
alter function private.describe_item(text) security definer;
alter function private.describe_profile(text) security definer;
