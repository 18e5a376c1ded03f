-- The administrators' list of outfits is narrowed by gender and by creator, too.

drop function public.list_outfits(text, text, text, boolean, int, int, uuid);

create function public.list_outfits(
  term text default '',
  review_status text default null,
  sort text default 'created_at',
  ascending boolean default false,
  page_offset int default 0,
  max_results int default 20,
  outfit_id uuid default null,
  outfit_gender text default null,
  creator uuid default null
) returns table (
    id                uuid,
    name              text,
    slug              text,
    description       text,
    meta_description  text,
    main_image        text,
    image_alt         text,
    gender            text,
    item_ids          uuid[],
    outfit_styles     uuid[],
    colors            uuid[],
    status            text,
    rejection_reason  text,
    created_by_admin  boolean,
    created_at        timestamptz,
    updated_at        timestamptz,
    version           integer,
    user_id           uuid,
    creator_username  text,
    creator_full_name text,
    total             bigint)
  language plpgsql
  stable
  security definer
  set search_path = ''
  -- Conditions that are not asked for disappear from the plan.
  set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
declare
  pattern constant text := private.contains_pattern(nullif(btrim(term), ''));
  matching bigint;
begin
  perform private.require_admin();
  select count(*) into matching
  from public.combines as c
  where (pattern is null or c.name ilike pattern)
    and (review_status is null or c.status = review_status)
    and (outfit_id is null or c.id = outfit_id)
    and (outfit_gender is null or c.gender = outfit_gender)
    and (creator is null or c.user_id = creator);
  if matching = 0 then
    return;
  end if;

  return query execute format(
    $query$
      select c.id, c.name, c.slug, c.description, c.meta_description, c.main_image, c.image_alt, c.gender, c.item_ids,
        c.outfit_styles, c.colors, c.status, c.rejection_reason, c.created_by_admin, c.created_at, c.updated_at,
        c.version, c.user_id,
        p.username, p.full_name, $4
      from (
        -- Only what the index holds: the rows before the page are not read.
        select m.id from public.combines as m
        where %1$s
        order by m.%2$I %3$s, m.id
        offset $5 limit $6) as page
      join public.combines as c on c.id = page.id
      left join public.profiles as p on p.id = c.user_id
      order by c.%2$I %3$s, c.id
    $query$,
    concat_ws(
      ' and ', 'true',
      case when pattern is not null then 'm.name ilike $1' end,
      case when review_status is not null then 'm.status = $2' end,
      case when outfit_id is not null then 'm.id = $3' end,
      case when outfit_gender is not null then 'm.gender = $7' end,
      case when creator is not null then 'm.user_id = $8' end),
    case when sort = 'name' then 'name' else 'created_at' end,
    case when ascending then 'asc' else 'desc' end)
  using pattern, review_status, outfit_id, matching, greatest(page_offset, 0), least(greatest(max_results, 0), 100),
    outfit_gender, creator;
end
$$;
comment on function public.list_outfits(text, text, text, boolean, int, int, uuid, text, uuid) is
  'Administrators only: outfits of every status by a part of their name, their status, gender or creator, sorted by "name" or "created_at", each with its creator''s names; total counts all that match. At most 100 per call.';

revoke execute on function public.list_outfits(text, text, text, boolean, int, int, uuid, text, uuid) from public, anon;
grant execute on function public.list_outfits(text, text, text, boolean, int, int, uuid, text, uuid) to authenticated;
