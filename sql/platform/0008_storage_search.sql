-- Listings in SQL (storage.md §3.8, §3.9, §6.3): applications call some of them directly. All run as the caller, so that
-- row-level security decides what is listed. A listing costs what it returns, not what lies below a folder: it walks along
-- an index and leaps over each folder instead of reading it. Names compare bytewise (collation "C"), as S3 does, with
-- operators that PostgreSQL trusts below row-level security, so that the index serves every role.

-- lower(), with the promise that it tells nothing of what it is given: it has no error that depends on its argument. Only
-- with that promise may an index on it be used before a policy has spoken.
create function storage.fold(text) returns text
  language internal immutable strict parallel safe leakproof
  as 'lower';

set local role supabase_storage_admin;

create index idx_objects_bucket_id_name_fold on storage.objects
  (bucket_id, storage.fold(name) collate "C", name collate "C");

-- The part of `key` up to and including the first delimiter after `prefix`; null when there is none.
create function storage.get_common_prefix(p_key text, p_prefix text, p_delimiter text) returns text
  language sql immutable
  return case
    when p_delimiter <> '' and position(p_delimiter in substring(p_key from length(p_prefix) + 1)) > 0
    then left(
      p_key,
      length(p_prefix) + position(p_delimiter in substring(p_key from length(p_prefix) + 1)) + length(p_delimiter) - 1
    )
  end;

-- `text` as a LIKE pattern that matches it literally.
create function storage.escape_like(value text) returns text
  language sql immutable
  return replace(replace(replace(value, '\', '\\'), '%', '\%'), '_', '\_');

-- One level below a literal prefix: keys, and deeper ones as their common prefix (null id), after a name. Entries come in
-- order and are looked for one run after the other, so that a LIMIT around the call ends the work: a folder ends a run
-- and is leapt over, a run without folders doubles the next one.
create function storage.walk_level(
  p_bucket_id text, p_prefix text, p_delimiter text, p_after text
) returns table (
  name text, id uuid, metadata jsonb, updated_at timestamptz, created_at timestamptz, last_accessed_at timestamptz
)
  language sql stable
as $$
  with recursive walk as (
    select
      null::text as name, null::uuid as id, null::jsonb as metadata, null::timestamptz as updated_at,
      null::timestamptz as created_at, null::timestamptz as last_accessed_at,
      (case
        when storage.get_common_prefix(p_after, p_prefix, p_delimiter) = p_after then p_after || chr(1114111)
        else p_after
      end) collate "C" as after, 1 as run, true as goes_on
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
        coalesce(r.folder || chr(1114111), r.name) collate "C",
        case when r.folder is null then least(w.run * 2, 1000) else 1 end,
        r.folder is not null or r.position = w.run
      from (
        select
          q.*,
          row_number() over (order by q.name collate "C") as position,
          count(q.folder) over (
            order by q.name collate "C" rows between unbounded preceding and 1 preceding
          ) as folders_before
        from (
          select
            o.name, o.id, o.metadata, o.updated_at, o.created_at, o.last_accessed_at,
            storage.get_common_prefix(o.name, p_prefix, p_delimiter) as folder
          from storage.objects as o
          where o.bucket_id = p_bucket_id
            and o.name collate "C" >= p_prefix
            and o.name collate "C" < p_prefix || chr(1114111)
            and o.name collate "C" > w.after
          order by o.name collate "C"
          limit w.run
        ) as q
      ) as r
      where r.folders_before = 0
    ) as n
    where w.goes_on
  )
  select name, id, metadata, updated_at, created_at, last_accessed_at from walk where name is not null
$$;

-- The same from the end.
create function storage.walk_level_backwards(
  p_bucket_id text, p_prefix text, p_delimiter text, p_after text
) returns table (
  name text, id uuid, metadata jsonb, updated_at timestamptz, created_at timestamptz, last_accessed_at timestamptz
)
  language sql stable
as $$
  with recursive walk as (
    select
      null::text as name, null::uuid as id, null::jsonb as metadata, null::timestamptz as updated_at,
      null::timestamptz as created_at, null::timestamptz as last_accessed_at,
      (coalesce(nullif(p_after, ''), p_prefix || chr(1114111))) collate "C" as after, 1 as run, true as goes_on
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
        coalesce(r.folder, r.name) collate "C",
        case when r.folder is null then least(w.run * 2, 1000) else 1 end,
        r.folder is not null or r.position = w.run
      from (
        select
          q.*,
          row_number() over (order by q.name collate "C" desc) as position,
          count(q.folder) over (
            order by q.name collate "C" desc rows between unbounded preceding and 1 preceding
          ) as folders_before
        from (
          select
            o.name, o.id, o.metadata, o.updated_at, o.created_at, o.last_accessed_at,
            storage.get_common_prefix(o.name, p_prefix, p_delimiter) as folder
          from storage.objects as o
          where o.bucket_id = p_bucket_id
            and o.name collate "C" >= p_prefix
            and o.name collate "C" < p_prefix || chr(1114111)
            and o.name collate "C" < w.after
          order by o.name collate "C" desc
          limit w.run
        ) as q
      ) as r
      where r.folders_before = 0
    ) as n
    where w.goes_on
  )
  select name, id, metadata, updated_at, created_at, last_accessed_at from walk where name is not null
$$;

-- One level below a folder, whatever the case of names: files, and folders as rows without id, in the order of their
-- lower-case names, relative to the folder. `p_search` is how the rest of a name has to begin; it may spell out folders.
-- A folder is spelt as its first key spells it.
create function storage.walk_folder(p_bucket_id text, p_prefix text, p_search text) returns table (
  name text, id uuid, updated_at timestamptz, created_at timestamptz, last_accessed_at timestamptz, metadata jsonb
)
  language sql stable
as $$
  with recursive walk as (
    select
      null::text as name, null::uuid as id, null::timestamptz as updated_at, null::timestamptz as created_at,
      null::timestamptz as last_accessed_at, null::jsonb as metadata,
      (storage.fold(p_prefix || p_search)) collate "C" as after_key, '' collate "C" as after_name, 1 as run, true as goes_on
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
          else storage.fold(left(r.name, length(p_prefix || p_search) + r.slash)) || chr(1114111)
        end collate "C",
        case when r.slash = 0 then r.name else '' end collate "C",
        case when r.slash = 0 then least(w.run * 2, 1000) else 1 end,
        r.slash > 0 or r.position = w.run
      from (
        select
          q.*,
          row_number() over (order by q.key, q.name collate "C") as position,
          count(*) filter (where q.slash > 0) over (
            order by q.key, q.name collate "C" rows between unbounded preceding and 1 preceding
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
            and (storage.fold(o.name) collate "C", o.name collate "C") > (w.after_key, w.after_name)
          order by storage.fold(o.name) collate "C", o.name collate "C"
          limit w.run
        ) as q
      ) as r
      where r.folders_before = 0
    ) as n
    where w.goes_on
  )
  -- A key that is the folder itself is no entry of it; a folder whose name is empty is.
  select name, id, updated_at, created_at, last_accessed_at, metadata from walk where name <> '' or name is not null and id is null
$$;

-- The same from the end.
create function storage.walk_folder_backwards(p_bucket_id text, p_prefix text, p_search text) returns table (
  name text, id uuid, updated_at timestamptz, created_at timestamptz, last_accessed_at timestamptz, metadata jsonb
)
  language sql stable
as $$
  with recursive walk as (
    select
      null::text as name, null::uuid as id, null::timestamptz as updated_at, null::timestamptz as created_at,
      null::timestamptz as last_accessed_at, null::jsonb as metadata,
      (storage.fold(p_prefix || p_search) || chr(1114111)) collate "C" as after_key, '' collate "C" as after_name, 1 as run, true as goes_on
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
          else storage.fold(left(r.name, length(p_prefix || p_search) + r.slash))
        end collate "C",
        case when r.slash = 0 then r.name else '' end collate "C",
        case when r.slash = 0 then least(w.run * 2, 1000) else 1 end,
        r.slash > 0 or r.position = w.run
      from (
        select
          q.*,
          row_number() over (order by q.key desc, q.name collate "C" desc) as position,
          count(*) filter (where q.slash > 0) over (
            order by q.key desc, q.name collate "C" desc rows between unbounded preceding and 1 preceding
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
            and (storage.fold(o.name) collate "C", o.name collate "C") < (w.after_key, w.after_name)
          order by storage.fold(o.name) collate "C" desc, o.name collate "C" desc
          limit w.run
        ) as q
      ) as r
      where r.folders_before = 0
    ) as n
    where w.goes_on
  )
  -- A key that is the folder itself is no entry of it; a folder whose name is empty is.
  select name, id, updated_at, created_at, last_accessed_at, metadata from walk where name <> '' or name is not null and id is null
$$;

-- One level below `prefix`: files as rows, deeper keys as folder rows whose other columns are null. Case-insensitive.
-- By name entries come in order; by date all entries of the level have to be known before the first is.
-- Compat: `levels` is accepted and follows from `prefix`.
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
    -- Folders have no dates: they come first, in the same direction.
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
-- `sort_column_after`). Folders carry the dates of their earliest child when a date sorts.
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
          and storage.get_common_prefix(o.name, $1, '/') is null
        union all
        select
          split_part(folder, '/', $5), folder, null, min(o.updated_at), min(o.created_at), null, null
        from storage.objects as o
        cross join lateral storage.get_common_prefix(o.name, $1, '/') as folder
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
        and storage.get_common_prefix(u.key, coalesce(prefix_param, ''), coalesce(delimiter_param, '')) is null
      union all
      select distinct folder, null::text, null::timestamptz
      from storage.s3_multipart_uploads as u
      cross join lateral
        storage.get_common_prefix(u.key, coalesce(prefix_param, ''), coalesce(delimiter_param, '')) as folder
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
