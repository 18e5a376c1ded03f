-- What a database and the roles of its server consist of, one row per part: (rank, part, value, make, remove, owner, is_remade). Two databases with
-- the same rows are equal but for what their tables hold. `make` gives the part this value in another
-- database of the platform, `remove` drops it here; null where there is no such statement. Ranks are the order of `make`, and `is_remade`
-- says that a part of another value is removed before it is made. `owner` is the role that owns the object, or the object that it belongs to;
-- null for parts of the server. Nobody has to be a superuser to read it.
with parts as (
with
is_16 (value) as (select current_setting('server_version_num')::int >= 160000),
own_database as (select * from pg_database where datname = current_database()),
-- Tables of days, which are made and dropped as time passes, and what is on them.
passing as (
  select i.inhrelid as oid from pg_inherits as i
  where i.inhparent = to_regclass('realtime.messages') or i.inhparent in (
    select x.indexrelid from pg_index as x where x.indrelid = to_regclass('realtime.messages')
  )
),
any_relation as (
  select c.* from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
  where n.nspname !~ '^pg_(toast|temp)' and n.nspname not in ('pg_catalog', 'information_schema')
),
relation as (select c.* from any_relation as c where c.oid not in (select oid from passing)),
found (rank, classid, oid, sub, owner, acl, acl_kind, acl_place, definition, make) as (
  select 20, 'pg_namespace'::regclass, n.oid, 0, n.nspowner, n.nspacl, 'n'::"char", 'pg_namespace.nspacl',
    '', format('create schema if not exists %I', n.nspname)
  from pg_namespace as n where n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
  union all
  select 30, 'pg_extension'::regclass, e.oid, 0, e.extowner, null, null, null,
    concat_ws(' ', e.extversion, e.extnamespace::regnamespace),
    format('create extension if not exists %I schema %I version %L', e.extname, n.nspname, e.extversion)
  from pg_extension as e join pg_namespace as n on n.oid = e.extnamespace
  union all
  select 40, 'pg_type'::regclass, t.oid, 0, t.typowner, t.typacl, 'T', 'pg_type.typacl',
    concat_ws(' ', t.typtype, format_type(t.typbasetype, t.typtypmod),
      (select string_agg(e.enumlabel, ',' order by e.enumsortorder) from pg_enum as e where e.enumtypid = t.oid)), null
  from pg_type as t join pg_namespace as n on n.oid = t.typnamespace
  where t.typtype in ('b', 'd', 'e', 'r', 'm') and n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast')
    and not exists (select from pg_type as a where a.typarray = t.oid)
  union all
  select case c.relkind when 'S' then 50 when 'i' then 80 when 'I' then 80 when 'v' then 70 when 'm' then 70 else 51 end,
    'pg_class'::regclass, c.oid, 0, c.relowner,
    c.relacl, case c.relkind when 'S' then 's'::"char" else 'r' end, case when c.relkind not in ('i', 'I') then 'pg_class.relacl' end,
    concat_ws(' ', c.relkind, c.relpersistence, c.relrowsecurity, c.relforcerowsecurity, c.reloptions, c.relreplident,
      case when c.relkind in ('v', 'm') then md5(pg_get_viewdef(c.oid)) when c.relkind in ('i', 'I') then pg_get_indexdef(c.oid)
        when c.relkind = 'S' then (select concat_ws(' ', q.seqtypid::regtype, q.seqstart, q.seqincrement, q.seqmax, q.seqmin, q.seqcache, q.seqcycle)
          from pg_sequence as q where q.seqrelid = c.oid) end),
    case c.relkind
      when 'v' then format('create or replace view %s as %s', c.oid::regclass, pg_get_viewdef(c.oid))
      when 'i' then pg_get_indexdef(c.oid)
      when 'S' then (select format('update pg_sequence set (seqstart, seqincrement, seqmax, seqmin, seqcache, seqcycle) = '
          '(%s, %s, %s, %s, %s, %L::bool) where seqrelid = to_regclass(%L)', q.seqstart, q.seqincrement, q.seqmax, q.seqmin, q.seqcache,
          q.seqcycle, c.oid::regclass)
        from pg_sequence as q where q.seqrelid = c.oid)
      when 'r' then format(
        'update pg_class set relrowsecurity = %L, relforcerowsecurity = %L, reloptions = %L, relreplident = %L where oid = %L::regclass',
        c.relrowsecurity, c.relforcerowsecurity, c.reloptions, c.relreplident, c.oid::regclass)
    end
  from relation as c
  where c.relkind in ('r', 'p', 'v', 'm', 'f', 'S') or (
    c.relkind in ('i', 'I') and not exists (select from pg_constraint as k where k.conindid = c.oid and k.contype in ('p', 'u', 'x'))
  )
  union all
  select 55, 'pg_class'::regclass, c.oid, a.attnum, null, a.attacl, 'c', 'pg_attribute.attacl',
    concat_ws(' ', format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity, a.attgenerated, a.attoptions, a.attstorage,
      nullif(a.attstattarget, -1)), null
  from relation as c join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  where c.relkind in ('r', 'p', 'v', 'm', 'f', 'c')
  union all
  select 60, 'pg_proc'::regclass, p.oid, 0, p.proowner, p.proacl, 'f', 'pg_proc.proacl',
    case when p.prokind = 'a' then 'aggregate' else md5(pg_get_functiondef(p.oid)) end,
    case when p.prokind <> 'a' then pg_get_functiondef(p.oid) end
  from pg_proc as p join pg_namespace as n on n.oid = p.pronamespace
  where n.nspname not in ('pg_catalog', 'information_schema')
  union all
  select 65, 'pg_attrdef'::regclass, d.oid, 0, null, null, null, null, pg_get_expr(d.adbin, d.adrelid),
    case when a.attgenerated = '' then format('alter table %s alter column %I set default %s', d.adrelid::regclass, a.attname,
      pg_get_expr(d.adbin, d.adrelid)) end
  from pg_attrdef as d join relation as c on c.oid = d.adrelid join pg_attribute as a on a.attrelid = d.adrelid and a.attnum = d.adnum
  union all
  select case k.contype when 'f' then 77 else 75 end, 'pg_constraint'::regclass, k.oid, 0, null, null, null, null,
    concat_ws(' ', pg_get_constraintdef(k.oid), k.convalidated, k.condeferrable, k.condeferred),
    case when k.conrelid <> 0 then
      format('alter table %s add constraint %I %s', k.conrelid::regclass, k.conname, pg_get_constraintdef(k.oid)) end
  from pg_constraint as k
  where k.contype in ('c', 'f', 'p', 'u', 'x') and k.conparentid = 0 and k.conrelid not in (select oid from passing)
    and k.connamespace not in (select oid from pg_namespace where nspname in ('pg_catalog', 'information_schema'))
    -- A check of realtime.messages that its tables of days inherit.
    and (k.conrelid = 0 or k.conrelid in (select oid from relation))
  union all
  select 85, 'pg_trigger'::regclass, t.oid, 0, null, null, null, null, concat_ws(' ', pg_get_triggerdef(t.oid), t.tgenabled),
    concat(pg_get_triggerdef(t.oid), case t.tgenabled when 'O' then null else format('; alter table %s %s trigger %I', t.tgrelid::regclass,
      case t.tgenabled when 'A' then 'enable always' when 'R' then 'enable replica' else 'disable' end, t.tgname) end)
  -- Also those of tables of days: they fire when the whole table is emptied.
  from pg_trigger as t join any_relation as c on c.oid = t.tgrelid where not t.tgisinternal and t.tgparentid = 0
  union all
  select 85, 'pg_rewrite'::regclass, r.oid, 0, null, null, null, null, concat_ws(' ', pg_get_ruledef(r.oid), r.ev_enabled), pg_get_ruledef(r.oid)
  from pg_rewrite as r join any_relation as c on c.oid = r.ev_class where r.rulename <> '_RETURN'
  union all
  select 90, 'pg_policy'::regclass, p.oid, 0, null, null, null, null,
    concat_ws(' ', p.polcmd, p.polpermissive, roles.names, pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid)),
    format('create policy %I on %s as %s for %s to %s%s%s', p.polname, p.polrelid::regclass,
      case when p.polpermissive then 'permissive' else 'restrictive' end,
      case p.polcmd when 'r' then 'select' when 'a' then 'insert' when 'w' then 'update' when 'd' then 'delete' else 'all' end, roles.names,
      ' using (' || pg_get_expr(p.polqual, p.polrelid) || ')', ' with check (' || pg_get_expr(p.polwithcheck, p.polrelid) || ')')
  from pg_policy as p cross join lateral (
    select string_agg(case r.oid when 0 then 'public' else r.oid::regrole::text end, ', ' order by r.oid::regrole::text) as names
    from unnest(p.polroles) as r (oid)
  ) as roles
  union all
  select 92, 'pg_event_trigger'::regclass, e.oid, 0, e.evtowner, null, null, null,
    concat_ws(' ', e.evtevent, e.evtenabled, e.evtfoid::regprocedure, e.evttags), null
  from pg_event_trigger as e
  union all
  -- Those of superusers belong to whoever runs the server.
  select 95, 'pg_subscription'::regclass, s.oid, 0, s.subowner, null, null, null, s.subenabled::text, null
  from pg_subscription as s join pg_roles as r on r.oid = s.subowner and not r.rolsuper
  where s.subdbid = (select d.oid from own_database as d)
  union all
  select 93, 'pg_publication'::regclass, p.oid, 0, p.pubowner, null, null, null, (to_jsonb(p) - 'oid' - 'pubowner')::text,
    format('do %L; alter publication %I set (publish = %L, publish_via_partition_root = %L)',
      format('begin if not exists (select from pg_publication where pubname = %L) then create publication %I; end if; end', p.pubname, p.pubname),
      p.pubname, concat_ws(', ', case when p.pubinsert then 'insert' end, case when p.pubupdate then 'update' end,
        case when p.pubdelete then 'delete' end, case when p.pubtruncate then 'truncate' end), p.pubviaroot::text)
  from pg_publication as p
  union all
  select 94, 'pg_publication_rel'::regclass, r.oid, 0, null, null, null, null,
    concat_ws(' ', r.prattrs, pg_get_expr(r.prqual, r.prrelid)),
    format('alter publication %I add table %s', p.pubname, r.prrelid::regclass)
  from pg_publication_rel as r join pg_publication as p on p.oid = r.prpubid
  union all
  select 94, 'pg_publication_namespace'::regclass, r.oid, 0, null, null, null, null, '',
    format('alter publication %I add tables in schema %s', p.pubname, r.pnnspid::regnamespace)
  from pg_publication_namespace as r join pg_publication as p on p.oid = r.pnpubid
  union all
  select 45, x.classid, x.oid, 0, x.owner, x.acl, x.acl_kind, x.acl_place, x.definition, null
  from (
    select 'pg_collation'::regclass, oid, collowner, null::aclitem[], null::"char", null::text, '' from pg_collation
    union all select 'pg_conversion'::regclass, oid, conowner, null, null, null, '' from pg_conversion
    union all select 'pg_operator'::regclass, oid, oprowner, null, null, null, oprcode::text from pg_operator
    union all select 'pg_opclass'::regclass, oid, opcowner, null, null, null, '' from pg_opclass
    union all select 'pg_opfamily'::regclass, oid, opfowner, null, null, null, '' from pg_opfamily
    union all select 'pg_cast'::regclass, oid, null, null, null, null, castcontext::text from pg_cast
    union all select 'pg_language'::regclass, oid, lanowner, lanacl, 'l', 'pg_language.lanacl', '' from pg_language
    union all select 'pg_transform'::regclass, oid, null, null, null, null, '' from pg_transform
    union all select 'pg_ts_config'::regclass, oid, cfgowner, null, null, null, '' from pg_ts_config
    union all select 'pg_ts_dict'::regclass, oid, dictowner, null, null, null, dictinitoption from pg_ts_dict
    union all select 'pg_ts_parser'::regclass, oid, null, null, null, null, '' from pg_ts_parser
    union all select 'pg_ts_template'::regclass, oid, null, null, null, null, '' from pg_ts_template
    union all select 'pg_statistic_ext'::regclass, oid, stxowner, null, null, null, pg_get_statisticsobjdef(oid) from pg_statistic_ext
    union all select 'pg_foreign_data_wrapper'::regclass, oid, fdwowner, fdwacl, 'F', 'pg_foreign_data_wrapper.fdwacl', fdwoptions::text
      from pg_foreign_data_wrapper
    union all select 'pg_foreign_server'::regclass, oid, srvowner, srvacl, 'S', 'pg_foreign_server.srvacl', srvoptions::text
      from pg_foreign_server
    union all select 'pg_user_mapping'::regclass, umid, null, null, null, null, '' from pg_user_mappings
    union all select 'pg_am'::regclass, oid, null, null, null, null, '' from pg_am
    union all select 'pg_largeobject'::regclass, oid, lomowner, null, null, null, '' from pg_largeobject_metadata
  ) as x (classid, oid, owner, acl, acl_kind, acl_place, definition)
  where x.oid >= 16384 or x.classid in ('pg_language'::regclass, 'pg_largeobject'::regclass)
),
named as (
  select f.*, i.type, i.identity, a.object_names as names, a.object_args as args,
    format('pg_get_object_address(%L, %L::text[], %L::text[])', a.type, a.object_names, a.object_args) as address,
    -- Members of an extension, and parts of another object, come and go with it.
    coalesce(whole.is_extension, false) as is_member, whole.is_extension is not null and i.type <> 'default value' as is_part,
    pg_get_userbyid(coalesce(f.owner, holder.oid)) as holder
  from found as f
  left join lateral (
    select c.relowner as oid from pg_class as c where c.oid = case f.classid
      when 'pg_class'::regclass then f.oid
      when 'pg_attrdef'::regclass then (select d.adrelid from pg_attrdef as d where d.oid = f.oid)
      when 'pg_constraint'::regclass then (select k.conrelid from pg_constraint as k where k.oid = f.oid)
      when 'pg_trigger'::regclass then (select t.tgrelid from pg_trigger as t where t.oid = f.oid)
      when 'pg_rewrite'::regclass then (select r.ev_class from pg_rewrite as r where r.oid = f.oid)
      when 'pg_policy'::regclass then (select p.polrelid from pg_policy as p where p.oid = f.oid) end
    union all
    select p.pubowner from pg_publication as p where p.oid = case f.classid
      when 'pg_publication_rel'::regclass then (select r.prpubid from pg_publication_rel as r where r.oid = f.oid)
      when 'pg_publication_namespace'::regclass then (select r.pnpubid from pg_publication_namespace as r where r.oid = f.oid) end
  ) as holder on true
  left join lateral (
    select bool_or(d.deptype = 'e') as is_extension from pg_depend as d
    where d.classid = f.classid and d.objid = f.oid and d.objsubid = 0 and d.deptype in ('e', 'i')
  ) as whole on true
  cross join lateral pg_identify_object(f.classid, f.oid, f.sub) as i
  cross join lateral pg_identify_object_as_address(f.classid, f.oid, f.sub) as a
),
default_rights as (
  select d.oid, d.defaclnamespace as place, d.defaclacl as acl, pg_get_userbyid(d.defaclrole) as role, n.nspname,
    format('alter default privileges for role %I%s', pg_get_userbyid(d.defaclrole), ' in schema ' || quote_ident(n.nspname)) as begin,
    case d.defaclobjtype when 'r' then 'tables' when 'S' then 'sequences' when 'f' then 'functions' when 'T' then 'types' when 'n' then 'schemas'
      else 'large objects' end as kind,
    case when d.defaclnamespace = 0
      then acldefault(case d.defaclobjtype when 'S' then 's' else d.defaclobjtype end, d.defaclrole) end as usual
  from pg_default_acl as d left join pg_namespace as n on n.oid = d.defaclnamespace
)

-- Roles of the server, without their passwords.
select 1 as rank, 'role ' || quote_ident(r.rolname) as part, attributes.text as value,
  case when not r.rolreplication or r.rolsuper then format('alter role %I %s', r.rolname, attributes.text)
    -- PostgreSQL 15 lets `postgres` rename a role and make another one of its name, whose password it knows. Whoever logs in with REPLICATION reads the
    -- whole server and names libraries that PostgreSQL loads. So whoever gets it loses its password, and `postgres` does not get it there.
    when r.rolname = 'postgres' and not is_16.value
      then format('alter role %I %s', r.rolname, replace(attributes.text, ' replication ', ' noreplication '))
    when r.rolname = 'postgres' then format('alter role %I %s', r.rolname, attributes.text)
    else format('do %L', format('begin if exists (select from pg_authid where rolname = %L and not rolreplication) '
      'then alter role %I password null; end if; alter role %I %s; end', r.rolname, r.rolname, r.rolname, attributes.text)) end as make,
  null as remove, null::name as owner
from pg_roles as r cross join is_16 cross join lateral (select concat_ws(' ', case when r.rolsuper then 'superuser' else 'nosuperuser' end,
    case when r.rolinherit then 'inherit' else 'noinherit' end, case when r.rolcreaterole then 'createrole' else 'nocreaterole' end,
    case when r.rolcreatedb then 'createdb' else 'nocreatedb' end, case when r.rolcanlogin then 'login' else 'nologin' end,
    case when r.rolreplication then 'replication' else 'noreplication' end,
    case when r.rolbypassrls then 'bypassrls' else 'nobypassrls' end, 'connection limit ' || r.rolconnlimit,
    'valid until ' || quote_literal(coalesce(r.rolvaliduntil::text, 'infinity'))) as text) as attributes
where r.rolname !~ '^pg_'
union all
select 2, format('membership of %I in %I', m.rolname, r.rolname) || case when is_16.value then format(' by %I', g.rolname) else '' end,
  concat_ws(' ', a.admin_option, to_jsonb(a) ->> 'inherit_option', to_jsonb(a) ->> 'set_option'),
  format('grant %I to %I', r.rolname, m.rolname) || case when is_16.value
    then format(' with admin %s, inherit %s, set %s granted by %I', a.admin_option::text, to_jsonb(a) ->> 'inherit_option',
      to_jsonb(a) ->> 'set_option', g.rolname)
    else case when a.admin_option then ' with admin option' else '' end end,
  format('revoke %I from %I', r.rolname, m.rolname) || case when is_16.value then format(' granted by %I', g.rolname) else '' end || ' cascade', null
from pg_auth_members as a join pg_roles as r on r.oid = a.roleid join pg_roles as m on m.oid = a.member
join pg_roles as g on g.oid = a.grantor cross join is_16
union all
select 3, 'settings of ' || coalesce('role ' || quote_ident(r.rolname), 'all roles')
    || case when s.setdatabase = 0 then '' else ' in the database' end,
  array_to_string(array(select x from unnest(s.setconfig) as x order by 1), E'\n'),
  format('delete from pg_db_role_setting where setdatabase = %1$s and setrole = %2$s; '
    'insert into pg_db_role_setting (setdatabase, setrole, setconfig) values (%1$s, %2$s, %3$L)',
    case when s.setdatabase = 0 then '0' else '(select oid from pg_database where datname = current_database())' end,
    case when s.setrole = 0 then '0' else quote_literal(quote_ident(r.rolname)) || '::regrole' end, s.setconfig),
  format('delete from pg_db_role_setting where setdatabase = %s and setrole = %s', s.setdatabase, s.setrole), null
from pg_db_role_setting as s left join pg_roles as r on r.oid = s.setrole
where s.setdatabase in (select 0 union all select oid from own_database)
union all
select 4, 'rights on parameter ' || p.parname, array_to_string(array(select x::text from unnest(p.paracl) as x order by 1), ' '), null,
  (select string_agg(format('revoke all on parameter %s from %s', p.parname,
    case a.grantee when 0 then 'public' else a.grantee::regrole::text end), '; ') from aclexplode(p.paracl) as a
   where a.grantee <> 10), null
from pg_parameter_acl as p
union all
select 5, 'the database', concat_ws(' ', pg_get_userbyid(d.datdba), d.datconnlimit, (
    select string_agg(x::text, ' ' order by x::text) from unnest(coalesce(d.datacl, acldefault('d', d.datdba))) as x)),
  format('do %L; update pg_database set datacl = %L, datconnlimit = %s where datname = current_database()',
    format('begin execute format(%L, current_database()); end', 'alter database %I owner to ' || quote_ident(pg_get_userbyid(d.datdba))),
    d.datacl, d.datconnlimit), null, null
from own_database as d
union all
select n.rank, n.type || ' ' || n.identity, n.definition, case when not n.is_member then n.make end,
  case when n.is_part then null else case n.type
    when 'table column' then format('alter table if exists %I.%I drop column if exists %I cascade', n.names[1], n.names[2], n.names[3])
    when 'view column' then null
    when 'default value' then format('alter table if exists %I.%I alter column %I drop default', n.names[1], n.names[2], n.names[3])
    when 'table constraint' then format('alter table if exists %I.%I drop constraint if exists %I cascade', n.names[1], n.names[2], n.names[3])
    when 'domain constraint' then null
    when 'trigger' then format('drop trigger if exists %I on %I.%I cascade', n.names[3], n.names[1], n.names[2])
    when 'rule' then format('drop rule if exists %I on %I.%I cascade', n.names[3], n.names[1], n.names[2])
    when 'policy' then format('drop policy if exists %I on %I.%I', n.names[3], n.names[1], n.names[2])
    when 'function' then format('drop routine if exists %s cascade', n.identity)
    when 'procedure' then format('drop routine if exists %s cascade', n.identity)
    when 'aggregate' then format('drop routine if exists %s cascade', n.identity)
    when 'statistics object' then format('drop statistics if exists %s', n.identity)
    when 'user mapping' then format('drop user mapping if exists for %I server %I', n.names[1], n.args[1])
    -- Names of a project are quoted twice, as the statement is the text of a block.
    when 'publication relation' then format('do %L', format('begin if exists (select from pg_publication where pubname = %L) '
      'and to_regclass(%L) is not null then alter publication %I drop table %I.%I; end if; end', n.args[1],
      format('%I.%I', n.names[1], n.names[2]), n.args[1], n.names[1], n.names[2]))
    when 'publication namespace' then format('do %L', format('begin if exists (select from pg_publication where pubname = %L) '
      'and to_regnamespace(%L) is not null then alter publication %I drop tables in schema %I; end if; end', n.args[1],
      quote_ident(n.names[1]), n.args[1], n.names[1]))
    when 'large object' then format('select lo_unlink(%s)', n.oid)
    -- Its replication slot on the other server stays, because dropping it could not be undone if this transaction failed.
    when 'subscription' then format('alter subscription %1$s disable; alter subscription %1$s set (slot_name = none); '
      'drop subscription %1$s', n.identity)
    else format('drop %s if exists %s cascade', case n.type when 'composite type' then 'type' when 'domain' then 'domain'
      else n.type end, n.identity) end end, n.holder
from named as n
union all
select 110, 'owner of ' || n.type || ' ' || n.identity, pg_get_userbyid(n.owner),
  case
    when n.type = 'extension' then format(
      'update pg_extension set extowner = %1$L::regrole where extname = %2$L; '
      'delete from pg_shdepend as d using pg_extension as e, pg_database as b where e.extname = %2$L and b.datname = current_database() '
        'and d.dbid = b.oid and d.classid = ''pg_extension''::regclass and d.objid = e.oid and d.deptype = ''o''; '
      'insert into pg_shdepend (dbid, classid, objid, objsubid, refclassid, refobjid, deptype) '
        'select b.oid, ''pg_extension''::regclass, e.oid, 0, ''pg_authid''::regclass, e.extowner, ''o'' '
        'from pg_extension as e, pg_database as b where e.extname = %2$L and b.datname = current_database() and e.extowner <> 10',
      quote_ident(pg_get_userbyid(n.owner)), n.names[1])
    when n.type not in ('index', 'large object', 'event trigger') and not n.is_member then format('alter %s %s owner to %I',
    case n.type when 'statistics object' then 'statistics' when 'procedure' then 'routine' when 'aggregate' then 'routine'
      when 'function' then 'routine' else n.type end, n.identity, pg_get_userbyid(n.owner)) end, null, n.holder
from named as n where n.owner is not null
union all
select 120, 'rights on ' || n.type || ' ' || n.identity, rights.text,
  -- An empty array of rights cannot be written as text.
  case when cardinality(n.acl) = 0 then null when n.sub = 0 then format('update %s set %s = %L where oid = (%s).objid',
      split_part(n.acl_place, '.', 1), split_part(n.acl_place, '.', 2), n.acl, n.address)
    else format('update pg_attribute set attacl = %L from %s as a where attrelid = a.objid and attnum = a.objsubid', n.acl, n.address) end,
  null, n.holder
from named as n
cross join lateral (
  select coalesce(string_agg(x::text, ' ' order by x::text), '') as text
  from unnest(coalesce(n.acl, acldefault(n.acl_kind, coalesce(n.owner, 10)))) as x
) as rights
where n.acl_place is not null
union all
select 130, 'default rights on ' || d.kind || ' of ' || d.role || coalesce(' in ' || quote_ident(d.nspname), ''),
  (select string_agg(x::text, ' ' order by x::text) from unnest(d.acl) as x),
  concat_ws('; ',
    (select string_agg(format('%s revoke all on %s from %s', d.begin, d.kind, case a.grantee when 0 then 'public' else a.grantee::regrole::text end),
      '; ') from (select distinct grantee from aclexplode(d.usual)) as a),
    (select string_agg(format('%s grant %s on %s to %s%s', d.begin, a.privilege_type, d.kind,
      case a.grantee when 0 then 'public' else a.grantee::regrole::text end, case when a.is_grantable then ' with grant option' else '' end), '; ')
      from aclexplode(d.acl) as a)),
  concat_ws('; ',
    (select string_agg(format('%s revoke all on %s from %s', d.begin, d.kind, case a.grantee when 0 then 'public' else a.grantee::regrole::text end),
      '; ') from (select distinct grantee from aclexplode(d.acl)) as a),
    (select string_agg(format('%s grant %s on %s to %s', d.begin, a.privilege_type, d.kind,
      case a.grantee when 0 then 'public' else a.grantee::regrole::text end), '; ') from aclexplode(d.usual) as a)), d.role
from default_rights as d
union all
select 140, 'comment on ' || i.type || ' ' || i.identity, c.description,
  format('delete from pg_description as c using %1$s as a where c.objoid = a.objid and c.classoid = a.classid and c.objsubid = a.objsubid; '
    'insert into pg_description (objoid, classoid, objsubid, description) select a.objid, a.classid, a.objsubid, %2$L from %1$s as a',
    format('pg_get_object_address(%L, %L::text[], %L::text[])', a.type, a.object_names, a.object_args), c.description),
  format('delete from pg_description where objoid = %s and classoid = %s and objsubid = %s', c.objoid, c.classoid::oid, c.objsubid),
  h.holder
from pg_description as c left join (select classid, oid, holder from named where sub = 0) as h on h.classid = c.classoid and h.oid = c.objoid cross join lateral pg_identify_object(c.classoid, c.objoid, c.objsubid) as i
cross join lateral pg_identify_object_as_address(c.classoid, c.objoid, c.objsubid) as a
where (c.objoid >= 16384 or c.objoid = 'public'::regnamespace) and i.identity is not null
union all
select 140, 'comment on role ' || quote_ident(r.rolname), s.description, format('comment on role %I is %L', r.rolname, s.description),
  format('comment on role %I is null', r.rolname), null
from pg_shdescription as s join pg_roles as r on r.oid = s.objoid where s.classoid = 'pg_authid'::regclass
union all
select 140, 'comment on the database', s.description, format('do %L', format('begin execute format(%L, current_database()); end',
    'comment on database %I is ' || replace(quote_literal(s.description), '%', '%%'))),
  format('do %L', 'begin execute format(''comment on database %I is null'', current_database()); end'), null
from pg_shdescription as s join own_database as d on d.oid = s.objoid where s.classoid = 'pg_database'::regclass
)
select p.rank, p.part, p.value, p.make, p.remove, p.owner, p.rank in (2, 3, 75, 77, 80, 85, 90, 94, 130) as is_remade
from parts as p
order by p.rank, p.part
