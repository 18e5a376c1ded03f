-- Listings in SQL (storage.md §3.8, §3.9, §6.3): applications call some of them directly. All run as the caller, so that
-- row-level security decides what is listed. Names compare bytewise (collation "C"), as S3 does.

set local role supabase_storage_admin;

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

-- One level below `prefix`: files as rows, deeper keys as folder rows whose other columns are null. Case-insensitive.
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
  v_direction text := case when lower(coalesce(sortorder, 'asc')) = 'desc' then 'desc' else 'asc' end;
  v_column text := case
    when sortcolumn in ('updated_at', 'created_at', 'last_accessed_at') then sortcolumn else 'name'
  end;
  v_order text;
begin
  if v_column = 'name' then
    v_order := format('sort_name collate "C" %s', v_direction);
  else
    -- Folders have no dates: they come first, in the same direction.
    v_order := format(
      'is_folder desc, case when is_folder then sort_name end collate "C" %1$s, %2$I %1$s, sort_name collate "C" %1$s',
      v_direction, v_column
    );
  end if;

  return query execute format(
    $sql$
      with matching as (
        select
          o.*,
          substring(o.name from length($1) + 1) as relative,
          position('/' in substring(o.name from length($1) + length($2) + 1)) as slash
        from storage.objects as o
        where o.bucket_id = $3
          and lower(o.name) collate "C" like storage.escape_like(lower($1 || $2)) || '%%'
          and length(o.name) > length($1)
      ),
      entries as (
        select
          relative as name, m.id, m.updated_at, m.created_at, m.last_accessed_at, m.metadata,
          false as is_folder, lower(relative) as sort_name
        from matching as m
        where slash = 0
        union all
        select
          min(left(relative, length($2) + slash - 1)), null, null, null, null, null,
          true, lower(left(relative, length($2) + slash - 1)) || '/'
        from matching
        where slash > 0
        group by lower(left(relative, length($2) + slash - 1))
      )
      select name, id, updated_at, created_at, last_accessed_at, metadata
      from entries
      order by %s
      limit $4 offset $5
    $sql$,
    v_order
  ) using v_prefix, v_search, bucketname, limits, offsets;
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
          and o.name collate "C" like storage.escape_like($1) || '%%'
          and storage.get_common_prefix(o.name, $1, '/') is null
        union all
        select
          split_part(folder, '/', $5), folder, null, min(o.updated_at), min(o.created_at), null, null
        from storage.objects as o
        cross join lateral storage.get_common_prefix(o.name, $1, '/') as folder
        where o.bucket_id = $2
          and o.name collate "C" like storage.escape_like($1) || '%%'
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
declare
  v_prefix text := coalesce(prefix, '');
  v_direction text := case when lower(coalesce(sort_order, 'asc')) = 'desc' then 'desc' else 'asc' end;
  v_operator text := case when v_direction = 'desc' then '<' else '>' end;
begin
  if sort_column in ('created_at', 'updated_at') then
    return query
      select * from storage.search_by_timestamp(
        prefix, bucket_name, limits, levels, start_after, sort_order, sort_column, sort_column_after
      );
    return;
  end if;

  return query execute format(
    $sql$
      with entries as (
        select
          o.name as name, o.id, o.updated_at, o.created_at, o.last_accessed_at, o.metadata
        from storage.objects as o
        where o.bucket_id = $2
          and o.name collate "C" like storage.escape_like($1) || '%%'
          and storage.get_common_prefix(o.name, $1, '/') is null
        union all
        select distinct folder, null::uuid, null::timestamptz, null::timestamptz, null::timestamptz, null::jsonb
        from storage.objects as o
        cross join lateral storage.get_common_prefix(o.name, $1, '/') as folder
        where o.bucket_id = $2
          and o.name collate "C" like storage.escape_like($1) || '%%'
          and folder is not null
      )
      select split_part(name, '/', $5), name, id, updated_at, created_at, last_accessed_at, metadata
      from entries
      where coalesce($4, '') = '' or name collate "C" %2$s $4 collate "C"
      order by name collate "C" %1$s
      limit $3
    $sql$,
    v_direction, v_operator
  ) using v_prefix, bucket_name, limits, start_after, levels;
end
$$;

-- ListObjectsV2 of the S3 protocol: keys and common prefixes in one order.
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
  v_direction text := case when lower(coalesce(sort_order, 'asc')) = 'desc' then 'desc' else 'asc' end;
  v_operator text := case when v_direction = 'desc' then '<' else '>' end;
begin
  return query execute format(
    $sql$
      with entries as (
        select o.name as name, o.id, o.metadata, o.updated_at, o.created_at, o.last_accessed_at
        from storage.objects as o
        where o.bucket_id = $1
          and o.name collate "C" like storage.escape_like($2) || '%%'
          and storage.get_common_prefix(o.name, $2, $3) is null
        union all
        select distinct folder, null::uuid, null::jsonb, null::timestamptz, null::timestamptz, null::timestamptz
        from storage.objects as o
        cross join lateral storage.get_common_prefix(o.name, $2, $3) as folder
        where o.bucket_id = $1
          and o.name collate "C" like storage.escape_like($2) || '%%'
          and folder is not null
      )
      select name, id, metadata, updated_at, created_at, last_accessed_at
      from entries
      where $5 = '' or name collate "C" %2$s $5 collate "C"
      order by name collate "C" %1$s
      limit $4
    $sql$,
    v_direction, v_operator
  ) using _bucket_id, v_prefix, v_delimiter, max_keys, v_after;
end
$$;

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
