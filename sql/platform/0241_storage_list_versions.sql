-- Lists by name that tell the version of each object (STORE-214).
--
-- In a bucket that keeps versions, a list has the version of each object. The walks of 0008_storage_search.sql, which these repeat with two
-- more columns, stay as they are: what calls them expects their columns, and a list of a bucket without versions costs what it did.

set local role supabase_storage_admin;

-- Whether a bucket keeps versions, or has kept some. As the owner of the tables: whoever lists objects need not see the bucket.
create function storage.keeps_versions(p_bucket_id text) returns boolean
  -- Each list of objects calls it: the plan of a function in SQL would be made anew for each transaction.
  language plpgsql stable security definer
  set search_path = pg_catalog, pg_temp
as $$
begin
  perform from storage.buckets as b where b.id = p_bucket_id and b.versioning_status <> 'DISABLED';
  return found;
end
$$;
comment on function storage.keeps_versions(text) is 'Whether lists of the bucket tell versions.';

-- How they walk is told in 0008_storage_search.sql.
do $generate$
declare
  v_level constant text := $template$
create function storage.%name%(
  p_bucket_id text, p_prefix text, p_delimiter text, p_after text
) returns table (
  name text, id uuid, metadata jsonb, updated_at timestamptz, created_at timestamptz, last_accessed_at timestamptz,
  version text, is_versioned boolean
)
  language sql stable
as $walk$
  with recursive walk as (
    select
      null::text as name, null::uuid as id, null::jsonb as metadata, null::timestamptz as updated_at,
      null::timestamptz as created_at, null::timestamptz as last_accessed_at, null::text as version, null::boolean as is_versioned,
      (%start%) collate "C" as after, 1 as run, true as goes_on
    union all
    select n.*
    from walk as w
    cross join lateral (
      select
        coalesce(r.folder, r.name),
        case when r.folder is null then r.id end,
        case when r.folder is null then r.metadata end,
        case when r.folder is null then r.updated_at end,
        case when r.folder is null then r.created_at end,
        case when r.folder is null then r.last_accessed_at end,
        case when r.folder is null then r.version end,
        case when r.folder is null then r.is_versioned end,
        coalesce(r.folder%behind%, r.name) collate "C",
        case when r.folder is null then least(w.run * 2, 1000) else 1 end,
        r.folder is not null or r.position = w.run
      from (
        select
          q.*,
          row_number() over (order by q.name collate "C" %direction%) as position,
          count(q.folder) over (
            order by q.name collate "C" %direction% rows between unbounded preceding and 1 preceding
          ) as folders_before
        from (
          select
            o.name, o.id, o.metadata, o.updated_at, o.created_at, o.last_accessed_at, o.version, o.is_versioned,
            storage.common_prefix_of(o.name, p_prefix, p_delimiter) as folder
          from only storage.objects as o
          where o.bucket_id = p_bucket_id
            and o.name collate "C" >= p_prefix
            and o.name collate "C" < p_prefix || chr(1114111)
            and o.name collate "C" %comparison% w.after
          order by o.name collate "C" %direction%
          limit w.run
        ) as q
      ) as r
      where r.folders_before = 0
    ) as n
    where w.goes_on
  )
  select name, id, metadata, updated_at, created_at, last_accessed_at, version, is_versioned from walk where name is not null
$walk$
$template$;
  v_folder constant text := $template$
create function storage.%name%(
  p_bucket_id text, p_prefix text, p_search text
) returns table (
  name text, id uuid, updated_at timestamptz, created_at timestamptz, last_accessed_at timestamptz, metadata jsonb,
  version text, is_versioned boolean
)
  language sql stable
as $walk$
  with recursive walk as (
    select
      null::text as name, null::uuid as id, null::timestamptz as updated_at, null::timestamptz as created_at,
      null::timestamptz as last_accessed_at, null::jsonb as metadata, null::text as version, null::boolean as is_versioned,
      (%start%) collate "C" as after_key, '' collate "C" as after_name, 1 as run, true as goes_on
    union all
    select n.*
    from walk as w
    cross join lateral (
      select
        case when r.slash = 0 then r.relative else left(r.relative, length(p_search) + r.slash - 1) end,
        case when r.slash = 0 then r.id end,
        case when r.slash = 0 then r.updated_at end,
        case when r.slash = 0 then r.created_at end,
        case when r.slash = 0 then r.last_accessed_at end,
        case when r.slash = 0 then r.metadata end,
        case when r.slash = 0 then r.version end,
        case when r.slash = 0 then r.is_versioned end,
        case
          when r.slash = 0 then r.key
          else storage.fold(left(r.name, length(p_prefix || p_search) + r.slash))%behind%
        end collate "C",
        case when r.slash = 0 then r.name else '' end collate "C",
        case when r.slash = 0 then least(w.run * 2, 1000) else 1 end,
        r.slash > 0 or r.position = w.run
      from (
        select
          q.*,
          row_number() over (order by q.key %direction%, q.name collate "C" %direction%) as position,
          count(*) filter (where q.slash > 0) over (
            order by q.key %direction%, q.name collate "C" %direction% rows between unbounded preceding and 1 preceding
          ) as folders_before
        from (
          select
            o.name, o.id, o.updated_at, o.created_at, o.last_accessed_at, o.metadata, o.version, o.is_versioned,
            storage.fold(o.name) collate "C" as key,
            substring(o.name from length(p_prefix) + 1) as relative,
            position('/' in substring(o.name from length(p_prefix || p_search) + 1)) as slash
          from only storage.objects as o
          where o.bucket_id = p_bucket_id
            and storage.fold(o.name) collate "C" >= storage.fold(p_prefix || p_search)
            and storage.fold(o.name) collate "C" < storage.fold(p_prefix || p_search) || chr(1114111)
            and (storage.fold(o.name) collate "C", o.name collate "C") %comparison% (w.after_key, w.after_name)
          order by storage.fold(o.name) collate "C" %direction%, o.name collate "C" %direction%
          limit w.run
        ) as q
      ) as r
      where r.folders_before = 0
    ) as n
    where w.goes_on
  )
  -- A key that equals the folder is no entry of it, but a folder with an empty name is.
  select name, id, updated_at, created_at, last_accessed_at, metadata, version, is_versioned from walk
  where name <> '' or name is not null and id is null
$walk$
$template$;
  v_walk record;
  v_sql text;
begin
  for v_walk in
    -- `start` is the position before the first entry. `behind` makes the position of a folder follow all its keys:
    -- U+10FFFF, chr(1114111), sorts after every other character. Backwards, the folder's name itself precedes its keys.
    select * from (values
      ('walk_level_with_version', v_level, 'asc', '>', ' || chr(1114111)',
        'case when storage.common_prefix_of(p_after, p_prefix, p_delimiter) = p_after '
          || 'then p_after || chr(1114111) else p_after end'),
      ('walk_level_backwards_with_version', v_level, 'desc', '<', '', 'coalesce(nullif(p_after, ''''), p_prefix || chr(1114111))'),
      ('walk_folder_with_version', v_folder, 'asc', '>', ' || chr(1114111)', 'storage.fold(p_prefix || p_search)'),
      ('walk_folder_backwards_with_version', v_folder, 'desc', '<', '', 'storage.fold(p_prefix || p_search) || chr(1114111)')
    ) as walk (name, template, direction, comparison, behind, start)
  loop
    v_sql := replace(v_walk.template, '%name%', v_walk.name);
    v_sql := replace(v_sql, '%direction%', v_walk.direction);
    v_sql := replace(v_sql, '%comparison%', v_walk.comparison);
    v_sql := replace(v_sql, '%behind%', v_walk.behind);
    v_sql := replace(v_sql, '%start%', v_walk.start);
    execute v_sql;
  end loop;
end
$generate$;
