-- Listings in SQL (storage.md §3.8, §3.9, §6.3); applications call some of them directly. All run as the caller, so
-- that row-level security decides what is listed. The cost of a listing grows with the rows that it returns, however
-- many keys lie below a folder: it walks along an index and skips each folder instead of reading it. Names compare
-- bytewise (collation "C"), as in S3, with operators that PostgreSQL evaluates before row-level security (leakproof),
-- so that the index serves every role.

-- lower(), declared leakproof: it has no error that depends on its argument. Only a leakproof function may be evaluated
-- by an index before the policies were.
create function storage.fold(text) returns text
  language internal immutable strict parallel safe leakproof
  as 'lower';

set local role supabase_storage_admin;

create index idx_objects_bucket_id_name_fold on storage.objects
  (bucket_id, storage.fold(name) collate "C", name collate "C");

-- The part of a key up to and including the first delimiter after the prefix; null when there is none. Its name differs
-- from the original's function below, so that migrations of the original, which replace functions of the original's
-- names, do not change what our listings call.
create function storage.common_prefix_of(p_key text, p_prefix text, p_delimiter text) returns text
  language sql immutable
  return case
    when p_delimiter <> '' and position(p_delimiter in substring(p_key from length(p_prefix) + 1)) > 0
    then left(
      p_key,
      length(p_prefix) + position(p_delimiter in substring(p_key from length(p_prefix) + 1)) + length(p_delimiter) - 1
    )
  end;

-- Compat: the original's name, for applications that call it.
create function storage.get_common_prefix(p_key text, p_prefix text, p_delimiter text) returns text
  language sql immutable
  return storage.common_prefix_of(p_key, p_prefix, p_delimiter);

-- A text as a LIKE pattern that matches it literally.
create function storage.escape_like(value text) returns text
  language sql immutable
  return replace(replace(replace(value, '\', '\\'), '%', '\%'), '_', '\_');

-- The four walks: walk_level and walk_folder, each forwards and backwards. They differ only in direction and
-- comparison, so each pair is generated from one template. They are SQL functions and no dynamic statements, because
-- PostgreSQL inlines them into the query that calls them: so a LIMIT around the call ends the work early.
--
-- walk_level lists one level below a literal prefix, after a name: keys, and for deeper keys their common prefix (a row
-- with null id). walk_folder lists one level below a folder regardless of case: files, and folders as rows with null
-- id, in the order of their lower-case names, relative to the folder. `p_search` is how the rest of a name has to
-- begin; it may contain folders. A folder is spelled as in its first key.
--
-- Both read runs of rows. A folder ends a run, and the next run begins behind all keys of that folder; a run without a
-- folder doubles the length of the next one, up to 1000 rows.
do $generate$
declare
  v_level constant text := $template$
create function storage.%name%(
  p_bucket_id text, p_prefix text, p_delimiter text, p_after text
) returns table (
  name text, id uuid, metadata jsonb, updated_at timestamptz, created_at timestamptz, last_accessed_at timestamptz
)
  language sql stable
as $walk$
  with recursive walk as (
    select
      null::text as name, null::uuid as id, null::jsonb as metadata, null::timestamptz as updated_at,
      null::timestamptz as created_at, null::timestamptz as last_accessed_at,
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
            o.name, o.id, o.metadata, o.updated_at, o.created_at, o.last_accessed_at,
            storage.common_prefix_of(o.name, p_prefix, p_delimiter) as folder
          from storage.objects as o
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
  select name, id, metadata, updated_at, created_at, last_accessed_at from walk where name is not null
$walk$
$template$;
  v_folder constant text := $template$
create function storage.%name%(p_bucket_id text, p_prefix text, p_search text) returns table (
  name text, id uuid, updated_at timestamptz, created_at timestamptz, last_accessed_at timestamptz, metadata jsonb
)
  language sql stable
as $walk$
  with recursive walk as (
    select
      null::text as name, null::uuid as id, null::timestamptz as updated_at, null::timestamptz as created_at,
      null::timestamptz as last_accessed_at, null::jsonb as metadata,
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
            o.name, o.id, o.updated_at, o.created_at, o.last_accessed_at, o.metadata,
            storage.fold(o.name) collate "C" as key,
            substring(o.name from length(p_prefix) + 1) as relative,
            position('/' in substring(o.name from length(p_prefix || p_search) + 1)) as slash
          from storage.objects as o
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
  select name, id, updated_at, created_at, last_accessed_at, metadata from walk where name <> '' or name is not null and id is null
$walk$
$template$;
  v_walk record;
  v_sql text;
begin
  for v_walk in
    -- `start` is the position before the first entry. `behind` makes the position of a folder follow all its keys:
    -- U+10FFFF, chr(1114111), sorts after every other character. Backwards, the folder's name itself precedes its keys.
    select * from (values
      ('walk_level', v_level, 'asc', '>', ' || chr(1114111)',
        'case when storage.common_prefix_of(p_after, p_prefix, p_delimiter) = p_after '
          || 'then p_after || chr(1114111) else p_after end'),
      ('walk_level_backwards', v_level, 'desc', '<', '', 'coalesce(nullif(p_after, ''''), p_prefix || chr(1114111))'),
      ('walk_folder', v_folder, 'asc', '>', ' || chr(1114111)', 'storage.fold(p_prefix || p_search)'),
      ('walk_folder_backwards', v_folder, 'desc', '<', '', 'storage.fold(p_prefix || p_search) || chr(1114111)')
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

-- One level below `prefix`, regardless of case: files as rows, folders as rows whose other columns are null. Sorting by
-- name reads only what is returned; sorting by a date reads the whole level.
-- Compat: `levels` is accepted and ignored, because it follows from `prefix`.
create function storage.search(
  prefix text,
  bucketname text,
  limits integer default 100,
  levels integer default 1,
  offsets integer default 0,
  search text default '',
  sortcolumn text default 'name',
  sortorder text default 'asc'
) returns table (
  name text, id uuid, updated_at timestamptz, created_at timestamptz, last_accessed_at timestamptz, metadata jsonb
)
  language plpgsql stable
as $$
#variable_conflict use_column
declare
  v_prefix text := coalesce(prefix, '');
  v_search text := coalesce(search, '');
  v_descending boolean := lower(coalesce(sortorder, 'asc')) = 'desc';
begin
  if sortcolumn in ('updated_at', 'created_at', 'last_accessed_at') then
    -- Folders have no dates; they are listed first, in the same direction.
    return query execute format(
      $sql$
        select w.name, w.id, w.updated_at, w.created_at, w.last_accessed_at, w.metadata
        from storage.walk_folder($1, $2, $3) as w
        order by
          w.id is null desc, case when w.id is null then storage.fold(w.name) end collate "C" %1$s, w.%2$I %1$s,
          storage.fold(w.name) collate "C" %1$s
        limit $4 offset $5
      $sql$,
      case when v_descending then 'desc' else 'asc' end, sortcolumn
    ) using bucketname, v_prefix, v_search, limits, offsets;
  elsif v_descending then
    return query select * from storage.walk_folder_backwards(bucketname, v_prefix, v_search) limit limits offset offsets;
  else
    return query select * from storage.walk_folder(bucketname, v_prefix, v_search) limit limits offset offsets;
  end if;
end
$$;

-- Pages of files and folders below a literal prefix, after the cursor (`start_after` and, for dates,
-- `sort_column_after`). When a date sorts, folders have the dates of their earliest child.
create function storage.search_by_timestamp(
  p_prefix text,
  p_bucket_id text,
  p_limit integer,
  p_level integer,
  p_start_after text,
  p_sort_order text,
  p_sort_column text,
  p_sort_column_after text
) returns table (
  key text, name text, id uuid, updated_at timestamptz, created_at timestamptz, last_accessed_at timestamptz,
  metadata jsonb
)
  language plpgsql stable
as $$
#variable_conflict use_column
declare
  v_prefix text := coalesce(p_prefix, '');
  v_column text := case when p_sort_column = 'updated_at' then 'updated_at' else 'created_at' end;
  v_direction text := case when lower(coalesce(p_sort_order, 'asc')) = 'desc' then 'desc' else 'asc' end;
  v_operator text := case when v_direction = 'desc' then '<' else '>' end;
begin
  return query execute format(
    $sql$
      with entries as (
        select
          split_part(o.name, '/', $5) as key, o.name, o.id, o.updated_at, o.created_at, o.last_accessed_at,
          o.metadata
        from storage.objects as o
        where o.bucket_id = $2
          and o.name collate "C" >= $1
          and o.name collate "C" < $1 || chr(1114111)
          and storage.common_prefix_of(o.name, $1, '/') is null
        union all
        select
          split_part(folder, '/', $5), folder, null, min(o.updated_at), min(o.created_at), null, null
        from storage.objects as o
        cross join lateral storage.common_prefix_of(o.name, $1, '/') as folder
        where o.bucket_id = $2
          and o.name collate "C" >= $1
          and o.name collate "C" < $1 || chr(1114111)
          and folder is not null
        group by folder
      )
      select key, name, id, updated_at, created_at, last_accessed_at, metadata
      from entries
      where coalesce($4, '') = ''
        or row(date_trunc('milliseconds', %1$I), name collate "C")
          %3$s row(date_trunc('milliseconds', nullif($6, '')::timestamptz), $4 collate "C")
      order by date_trunc('milliseconds', %1$I) %2$s, name collate "C" %2$s
      limit $3
    $sql$,
    v_column, v_direction, v_operator
  ) using v_prefix, p_bucket_id, p_limit, p_start_after, p_level, p_sort_column_after;
end
$$;

-- Keys and common prefixes (rows with null id) below a literal prefix, at most max_keys. `next_token`, the last name of
-- the page before, takes precedence over `start_after`.
create function storage.list_objects_with_delimiter(
  _bucket_id text,
  prefix_param text,
  delimiter_param text,
  max_keys integer default 100,
  start_after text default '',
  next_token text default '',
  sort_order text default 'asc'
) returns table (
  name text, id uuid, metadata jsonb, updated_at timestamptz, created_at timestamptz, last_accessed_at timestamptz
)
  language plpgsql stable
as $$
#variable_conflict use_column
declare
  v_prefix text := coalesce(prefix_param, '');
  v_delimiter text := coalesce(delimiter_param, '');
  v_after text := coalesce(nullif(next_token, ''), start_after, '');
begin
  if lower(coalesce(sort_order, 'asc')) = 'desc' then
    return query
      select * from storage.walk_level_backwards(_bucket_id, v_prefix, v_delimiter, v_after) limit max_keys;
  else
    return query select * from storage.walk_level(_bucket_id, v_prefix, v_delimiter, v_after) limit max_keys;
  end if;
end
$$;

-- Pages of files and folders below a literal prefix: by name through walk_level, by a date through search_by_timestamp.
-- `levels` is the number of the path segment that becomes `key`.
create function storage.search_v2(
  prefix text,
  bucket_name text,
  limits integer default 100,
  levels integer default 1,
  start_after text default '',
  sort_order text default 'asc',
  sort_column text default 'name',
  sort_column_after text default ''
) returns table (
  key text, name text, id uuid, updated_at timestamptz, created_at timestamptz, last_accessed_at timestamptz,
  metadata jsonb
)
  language plpgsql stable
as $$
#variable_conflict use_column
begin
  if sort_column in ('created_at', 'updated_at') then
    return query
      select * from storage.search_by_timestamp(
        prefix, bucket_name, limits, levels, start_after, sort_order, sort_column, sort_column_after
      );
    return;
  end if;
  return query
    select split_part(w.name, '/', levels), w.name, w.id, w.updated_at, w.created_at, w.last_accessed_at, w.metadata
    from storage.list_objects_with_delimiter(bucket_name, prefix, '/', limits, start_after, '', sort_order) as w;
end
$$;

-- ListMultipartUploads of the S3 protocol; few uploads are under way at a time.
create function storage.list_multipart_uploads_with_delimiter(
  bucket_id text,
  prefix_param text,
  delimiter_param text,
  max_keys integer default 100,
  next_key_token text default '',
  next_upload_token text default ''
) returns table (key text, id text, created_at timestamptz)
  language plpgsql stable
as $$
#variable_conflict use_column
declare
  v_bucket text := bucket_id;
begin
  return query
    with entries as (
      select u.key, u.id, u.created_at
      from storage.s3_multipart_uploads as u
      where u.bucket_id = v_bucket
        and u.key like storage.escape_like(coalesce(prefix_param, '')) || '%'
        and storage.common_prefix_of(u.key, coalesce(prefix_param, ''), coalesce(delimiter_param, '')) is null
      union all
      select distinct folder, null::text, null::timestamptz
      from storage.s3_multipart_uploads as u
      cross join lateral
        storage.common_prefix_of(u.key, coalesce(prefix_param, ''), coalesce(delimiter_param, '')) as folder
      where u.bucket_id = v_bucket
        and u.key like storage.escape_like(coalesce(prefix_param, '')) || '%'
        and folder is not null
    )
    select e.key, e.id, e.created_at
    from entries as e
    where coalesce(next_key_token, '') = ''
      or e.key collate "C" > next_key_token collate "C"
      or (
        coalesce(next_upload_token, '') <> ''
        and e.key = next_key_token
        and e.created_at > (
          select u.created_at from storage.s3_multipart_uploads as u where u.id = next_upload_token
        )
      )
    order by e.key collate "C", e.created_at
    limit max_keys;
end
$$;
