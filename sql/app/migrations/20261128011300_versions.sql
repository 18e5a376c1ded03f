-- Two people at one row: the second save is refused when it began with an older row, and is told the newer one. A client that sends
-- the version which it has read takes part in this; one that sends none writes as before.

create function private.readable_row(relation oid, key text) returns jsonb
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  readable text;
  result   jsonb;
begin
  select string_agg(format('%I', a.attname), ', ' order by a.attnum) into readable
  from pg_catalog.pg_attribute as a
  where a.attrelid = relation and a.attnum > 0 and not a.attisdropped
    and has_column_privilege(a.attrelid, a.attnum, 'SELECT');
  if readable is null then
    return '{}';
  end if;
  execute format('select to_jsonb(shown) from (select %s from %s where id = %L) as shown', readable, relation::regclass, key)
    into result;
  return coalesce(result, '{}');
end
$$;
comment on function private.readable_row(oid, text) is
  'The row with this id as its caller may see it: the columns that they may read, under the policies of the table; {} when they may not see it.';

create function private.check_version() returns trigger
  language plpgsql
  set search_path = ''
as $$
begin
  -- An update that sends no version, or the present one, leaves the column as it is.
  if new.version is distinct from old.version then
    raise exception 'It was changed by somebody else after it was read.'
      using errcode = 'PT409', detail = private.readable_row(tg_relid, to_jsonb(old) ->> 'id')::text;
  end if;
  -- Whoever inserts a row may have chosen its version, and no row may become one that cannot be changed.
  new.version := case when old.version < 2147483647 then old.version + 1 else 1 end;
  return new;
end
$$;
comment on function private.check_version() is
  'Before-update trigger: counts the versions of a row. 409 for an update that sends another version than the present one; the details have the present row.';

alter table public.brands add column version integer not null default 1;
comment on column public.brands.version is 'Grows with every update. An update that sends the version that was read is refused with 409 when it is not the present one.';
create trigger brands_check_version
  before update on public.brands
  for each row execute function private.check_version();
alter table public.categories add column version integer not null default 1;
comment on column public.categories.version is 'Grows with every update. An update that sends the version that was read is refused with 409 when it is not the present one.';
create trigger categories_check_version
  before update on public.categories
  for each row execute function private.check_version();
alter table public.subcategories add column version integer not null default 1;
comment on column public.subcategories.version is 'Grows with every update. An update that sends the version that was read is refused with 409 when it is not the present one.';
create trigger subcategories_check_version
  before update on public.subcategories
  for each row execute function private.check_version();
alter table public.colors add column version integer not null default 1;
comment on column public.colors.version is 'Grows with every update. An update that sends the version that was read is refused with 409 when it is not the present one.';
create trigger colors_check_version
  before update on public.colors
  for each row execute function private.check_version();
alter table public.styles add column version integer not null default 1;
comment on column public.styles.version is 'Grows with every update. An update that sends the version that was read is refused with 409 when it is not the present one.';
create trigger styles_check_version
  before update on public.styles
  for each row execute function private.check_version();
alter table public.outfit_styles add column version integer not null default 1;
comment on column public.outfit_styles.version is 'Grows with every update. An update that sends the version that was read is refused with 409 when it is not the present one.';
create trigger outfit_styles_check_version
  before update on public.outfit_styles
  for each row execute function private.check_version();
alter table public.items add column version integer not null default 1;
comment on column public.items.version is 'Grows with every update. An update that sends the version that was read is refused with 409 when it is not the present one.';
create trigger items_check_version
  before update on public.items
  for each row execute function private.check_version();
alter table public.combines add column version integer not null default 1;
comment on column public.combines.version is 'Grows with every update. An update that sends the version that was read is refused with 409 when it is not the present one.';
create trigger combines_check_version
  before update on public.combines
  for each row execute function private.check_version();
alter table public.profiles add column version integer not null default 1;
comment on column public.profiles.version is 'Grows with every update. An update that sends the version that was read is refused with 409 when it is not the present one.';
create trigger profiles_check_version
  before update on public.profiles
  for each row execute function private.check_version();
alter table public.site_settings add column version integer not null default 1;
comment on column public.site_settings.version is 'Grows with every update. An update that sends the version that was read is refused with 409 when it is not the present one.';
create trigger site_settings_check_version
  before update on public.site_settings
  for each row execute function private.check_version();
-- Settings are updated by named columns.
grant update (version) on public.site_settings to authenticated;

-- The list from which the form of an outfit is opened has its version.
drop function public.list_outfits(text, text, text, boolean, int, int, uuid);

create function public.list_outfits(
  term text default '',
  review_status text default null,
  sort text default 'created_at',
  ascending boolean default false,
  page_offset int default 0,
  max_results int default 20,
  outfit_id uuid default null
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
    and (outfit_id is null or c.id = outfit_id);
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
      case when outfit_id is not null then 'm.id = $3' end),
    case when sort = 'name' then 'name' else 'created_at' end,
    case when ascending then 'asc' else 'desc' end)
  using pattern, review_status, outfit_id, matching, greatest(page_offset, 0), least(greatest(max_results, 0), 100);
end
$$;
comment on function public.list_outfits(text, text, text, boolean, int, int, uuid) is
  'Administrators only: outfits of every status by a part of their name, sorted by "name" or "created_at", each with its creator''s names; total counts all that match. At most 100 per call.';

revoke execute on function public.list_outfits(text, text, text, boolean, int, int, uuid) from public, anon;
grant execute on function public.list_outfits(text, text, text, boolean, int, int, uuid) to authenticated;
