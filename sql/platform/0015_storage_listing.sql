-- Listings that cost what they return, not what lies below a folder: one walk along an index that leaps over each folder
-- instead of reading it. Results are those of 0008. Names compare bytewise (collation "C"), whose operators PostgreSQL
-- trusts below row-level security, so the index serves every role.

set local role supabase_storage_admin;

-- One level below a literal prefix: keys, and deeper ones as their common prefix (null id), after or before a name.
create function storage.walk_level(
  p_bucket_id text,
  p_prefix text,
  p_delimiter text,
  p_limit integer,
  p_after text,
  p_descending boolean
) returns table (
  name text, id uuid, metadata jsonb, updated_at timestamptz, created_at timestamptz, last_accessed_at timestamptz
)
  language plpgsql stable
as $$
#variable_conflict use_column
declare
  -- Behind everything that begins with a text.
  v_last constant text := chr(1114111);
  v_from text := p_prefix;
  v_to text := p_prefix || v_last;
  v_leapt boolean := true;
  v_left integer := p_limit;
  v_folder text;
  c refcursor;
begin
  if p_after <> '' then
    if p_descending then
      v_to := least(v_to collate "C", p_after collate "C");
    elsif storage.get_common_prefix(p_after, p_prefix, p_delimiter) = p_after then
      v_from := p_after || v_last;
    else
      -- The next name there can be.
      v_from := greatest(v_from collate "C", (p_after || chr(1)) collate "C");
    end if;
  end if;

  while v_left > 0 and v_leapt loop
    v_leapt := false;
    -- Static statements, so that the plan is made once for all leaps.
    if p_descending then
      open c for
        select o.name, o.id, o.metadata, o.updated_at, o.created_at, o.last_accessed_at
        from storage.objects as o
        where o.bucket_id = p_bucket_id and o.name collate "C" >= v_from and o.name collate "C" < v_to
        order by o.name collate "C" desc;
    else
      open c for
        select o.name, o.id, o.metadata, o.updated_at, o.created_at, o.last_accessed_at
        from storage.objects as o
        where o.bucket_id = p_bucket_id and o.name collate "C" >= v_from and o.name collate "C" < v_to
        order by o.name collate "C";
    end if;
    while v_left > 0 loop
      fetch c into name, id, metadata, updated_at, created_at, last_accessed_at;
      exit when not found;
      v_left := v_left - 1;
      v_folder := storage.get_common_prefix(name, p_prefix, p_delimiter);
      if v_folder is null then
        return next;
        continue;
      end if;
      name := v_folder;
      id := null;
      metadata := null;
      updated_at := null;
      created_at := null;
      last_accessed_at := null;
      return next;
      if p_descending then
        v_to := v_folder;
      else
        v_from := v_folder || v_last;
      end if;
      v_leapt := true;
      exit;
    end loop;
    close c;
  end loop;
end
$$;

create or replace function storage.list_objects_with_delimiter(
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
  language sql stable
as $$
  select w.name, w.id, w.metadata, w.updated_at, w.created_at, w.last_accessed_at
  from storage.walk_level(
    _bucket_id, coalesce(prefix_param, ''), coalesce(delimiter_param, ''), max_keys,
    coalesce(nullif(next_token, ''), start_after, ''), lower(coalesce(sort_order, 'asc')) = 'desc'
  ) as w
$$;

create or replace function storage.search_v2(
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
    from storage.walk_level(
      bucket_name, coalesce(prefix, ''), '/', limits, coalesce(start_after, ''),
      lower(coalesce(sort_order, 'asc')) = 'desc'
    ) as w;
end
$$;

-- One level below a folder, whatever the case of names: files and folders in the order of their lower-case names. Who
-- passes row-level security leaps over folders. For others PostgreSQL may not compare lower-case names before the
-- policies have spoken, so that the index gives the order only: one pass that ends with the page.
create function storage.walk_level_ignoring_case(
  p_bucket_id text,
  p_prefix text,
  p_search text,
  p_limit integer,
  p_offset integer,
  p_descending boolean
) returns table (
  name text, id uuid, updated_at timestamptz, created_at timestamptz, last_accessed_at timestamptz, metadata jsonb
)
  language plpgsql stable
as $$
#variable_conflict use_column
declare
  v_last constant text := chr(1114111);
  v_leaps constant boolean := not row_security_active('storage.objects');
  v_from text := lower(p_prefix || p_search);
  v_to text := lower(p_prefix || p_search) || v_last;
  v_skip integer := greatest(p_offset, 0);
  v_left integer := p_limit;
  v_slash integer;
  v_key text;
  v_folder text;
  v_leapt boolean := true;
  c refcursor;
begin
  while v_left > 0 and v_leapt loop
    v_leapt := false;
    if p_descending then
      open c for
        select o.name, o.id, o.updated_at, o.created_at, o.last_accessed_at, o.metadata
        from storage.objects as o
        where o.bucket_id = p_bucket_id and lower(o.name) collate "C" >= v_from and lower(o.name) collate "C" < v_to
        order by lower(o.name) collate "C" desc, o.name collate "C" desc;
    else
      open c for
        select o.name, o.id, o.updated_at, o.created_at, o.last_accessed_at, o.metadata
        from storage.objects as o
        where o.bucket_id = p_bucket_id and lower(o.name) collate "C" >= v_from and lower(o.name) collate "C" < v_to
        order by lower(o.name) collate "C", o.name collate "C";
    end if;
    while v_left > 0 loop
      fetch c into name, id, updated_at, created_at, last_accessed_at, metadata;
      exit when not found;
      name := substring(name from length(p_prefix) + 1);
      v_slash := position('/' in substring(name from length(p_search) + 1));
      if v_slash > 0 then
        v_key := lower(left(name, length(p_search) + v_slash));
        continue when v_key = v_folder;
        v_folder := v_key;
        name := left(name, length(p_search) + v_slash - 1);
        id := null;
        updated_at := null;
        created_at := null;
        last_accessed_at := null;
        metadata := null;
      elsif name = '' then
        -- The folder's own marker is no entry of it.
        continue;
      end if;
      if v_skip > 0 then
        v_skip := v_skip - 1;
      else
        v_left := v_left - 1;
        return next;
      end if;
      if v_slash > 0 and v_leaps then
        if p_descending then
          v_to := lower(p_prefix) || v_key;
        else
          v_from := lower(p_prefix) || v_key || v_last;
        end if;
        v_leapt := true;
        exit;
      end if;
    end loop;
    close c;
  end loop;
end
$$;

-- By date all entries of the level have to be known before the first is; by name they come in order.
create or replace function storage.search(
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
begin
  if v_column = 'name' then
    return query
      select w.name, w.id, w.updated_at, w.created_at, w.last_accessed_at, w.metadata
      from storage.walk_level_ignoring_case(bucketname, v_prefix, v_search, limits, offsets, v_direction = 'desc') as w;
    return;
  end if;

  -- Folders have no dates: they come first, in the same direction.
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
      order by is_folder desc, case when is_folder then sort_name end collate "C" %1$s, %2$I %1$s, sort_name collate "C" %1$s
      limit $4 offset $5
    $sql$,
    v_direction, v_column
  ) using v_prefix, v_search, bucketname, limits, offsets;
end
$$;
