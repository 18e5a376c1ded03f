select concat_ws(E'\n',
  case t.typtype
    when 'e' then format('create type %s as enum (%s);', t.oid::regtype,
      (select string_agg(quote_literal(e.enumlabel), ', ' order by e.enumsortorder) from pg_enum e where e.enumtypid = t.oid))
    when 'c' then format(E'create type %s as (\n%s\n);', t.oid::regtype,
      (select string_agg(format('  %I %s%s', a.attname, format_type(a.atttypid, a.atttypmod),
          case when a.attcollation <> b.typcollation and a.attcollation <> 0 then ' collate ' || a.attcollation::regcollation end),
          E',\n' order by a.attnum)
        from pg_attribute a join pg_type b on b.oid = a.atttypid
        where a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped))
    when 'd' then format('create domain %s as %s%s%s%s%s;', t.oid::regtype, format_type(t.typbasetype, t.typtypmod),
      (select case when t.typcollation <> b.typcollation and t.typcollation <> 0 then ' collate ' || t.typcollation::regcollation end
        from pg_type b where b.oid = t.typbasetype),
      ' default ' || t.typdefault,
      case when t.typnotnull then ' not null' end,
      (select string_agg(format(E'\n  constraint %I %s', k.conname, pg_get_constraintdef(k.oid)), '' order by k.conname)
        from pg_constraint k where k.contypid = t.oid and k.contype = 'c'))
    when 'r' then format('create type %s as range (%s);', t.oid::regtype,
      (select array_to_string(array_remove(array[
          format('subtype = %s', format_type(r.rngsubtype, null)),
          case when not o.opcdefault then format('subtype_opclass = %I.%I', os.nspname, o.opcname) end,
          case when r.rngcollation <> 0 then format('collation = %s', r.rngcollation::regcollation) end,
          case when r.rngcanonical <> 0 then format('canonical = %s', r.rngcanonical) end,
          case when r.rngsubdiff <> 0 then format('subtype_diff = %s', r.rngsubdiff) end,
          format('multirange_type_name = %s', r.rngmultitypid::regtype)
        ], null), ', ')
        from pg_range r
        join pg_opclass o on o.oid = r.rngsubopc
        join pg_namespace os on os.oid = o.opcnamespace
        where r.rngtypid = t.oid))
    -- Base types are written in C and come with their extension.
    else format('-- %s is a base type, which its extension creates.', t.oid::regtype)
  end,
  (select format('comment on %s %s is %L;', case t.typtype when 'd' then 'domain' else 'type' end, t.oid::regtype, description)
    from obj_description(t.oid, 'pg_type') as description where description is not null))
from pg_type t
where t.oid = $1::text::oid
