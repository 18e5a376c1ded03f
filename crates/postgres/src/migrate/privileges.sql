-- What in this database's catalog breaks the rules by which `postgres` is never more than `postgres` (docs/decisions.md, "Rights of
-- `postgres`"): one row (rule, object) for each, none in a database as it was shipped. Reads catalogs only. $1: whether the platform schema is that
-- of this version, so that all its tables have to be there.
with found as (
with superuser as (
  select r.oid from pg_catalog.pg_roles as r where r.rolsuper
), definer as (
  select p.*, p.oid::pg_catalog.regprocedure::text as name, l.lanname, n.nspowner
  from pg_catalog.pg_proc as p
  join pg_catalog.pg_language as l on l.oid = p.prolang
  join pg_catalog.pg_namespace as n on n.oid = p.pronamespace
  where p.prosecdef and p.proowner in (select oid from superuser)
), open_definer as (
  -- A function that nobody but superusers may execute gives nothing away.
  select d.* from definer as d
  where d.proacl is null or exists (
    select from pg_catalog.aclexplode(d.proacl) as a
    where a.privilege_type = 'EXECUTE' and a.grantee not in (select oid from superuser)
  ) or d.prorettype in ('trigger'::pg_catalog.regtype, 'event_trigger'::pg_catalog.regtype)
)
select 'a definer of a superuser has search_path = pg_catalog, pg_temp' as rule, d.name as object
from open_definer as d
where not coalesce('search_path=pg_catalog, pg_temp' = any (d.proconfig), false)
union all
select 'a definer of a superuser is bound to what it calls, or lies in a schema of a superuser', d.name
from open_definer as d
where d.prosqlbody is null and d.nspowner not in (select oid from superuser)
union all
select 'a definer of a superuser names no schema of another role', d.name || ' names ' || n.nspname
from open_definer as d
join pg_catalog.pg_namespace as n on n.nspowner not in (select oid from superuser) and n.nspname !~ '^pg_(toast_)?temp_'
where d.prosqlbody is null and d.prosrc ~ ('\m' || pg_catalog.regexp_replace(n.nspname::text, '(\W)', '\\\1', 'g') || '"?\.')
union all
select 'a definer of a superuser names no table or function of another role', d.name || ' names ' || o.schema || '.' || o.name
from open_definer as d
join (
  select n.nspname::text as schema, c.relname::text as name
  from pg_catalog.pg_class as c join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
  where c.relkind in ('r', 'p', 'v', 'm', 'f', 'S') and n.nspowner in (select oid from superuser) and c.relowner not in (select oid from superuser)
  union
  select n.nspname::text, p.proname::text
  from pg_catalog.pg_proc as p join pg_catalog.pg_namespace as n on n.oid = p.pronamespace
  where n.nspowner in (select oid from superuser) and p.proowner not in (select oid from superuser)
) as o on pg_catalog.strpos(d.prosrc, o.schema) > 0 and pg_catalog.strpos(d.prosrc, o.name) > 0 and d.prosrc ~ (
  '\m' || pg_catalog.regexp_replace(o.schema, '(\W)', '\\\1', 'g') || '"?\s*\.\s*"?' || pg_catalog.regexp_replace(o.name, '(\W)', '\\\1', 'g') || '\M'
)
where d.prosqlbody is null
union all
select 'a definer of a superuser calls and reads what superusers own', d.name || ' uses '
  || pg_catalog.pg_describe_object(u.refclassid, u.refobjid, u.refobjsubid)
from open_definer as d
join pg_catalog.pg_depend as u on u.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass and u.objid = d.oid
where d.prosqlbody is not null and u.refclassid <> 'pg_catalog.pg_namespace'::pg_catalog.regclass and exists (
  select from pg_catalog.pg_shdepend as s
  where s.classid = u.refclassid and s.objid = u.refobjid and s.deptype = 'o' and s.refobjid not in (select oid from superuser)
    and s.dbid = (select db.oid from pg_catalog.pg_database as db where db.datname = pg_catalog.current_database())
    -- An extension belongs to the role that may drop it, its objects to the superuser.
    and u.refclassid <> 'pg_catalog.pg_extension'::pg_catalog.regclass
)
union all
-- Columns of others may have types of others, and casts of these run as the function's owner.
select 'a trigger''s function with a superuser''s rights is on tables of superusers alone', d.name || ' on ' || c.oid::pg_catalog.regclass
from open_definer as d
join pg_catalog.pg_trigger as t on t.tgfoid = d.oid
join pg_catalog.pg_class as c on c.oid = t.tgrelid and c.relowner not in (select oid from superuser)
union all
select 'a trigger''s function with a superuser''s rights is on tables of superusers alone', d.name || ' is open to '
  || coalesce(g.rolname::text, 'PUBLIC')
from open_definer as d
cross join lateral pg_catalog.aclexplode(coalesce(d.proacl, pg_catalog.acldefault('f', d.proowner))) as a
left join pg_catalog.pg_roles as g on g.oid = a.grantee
where d.prorettype = 'trigger'::pg_catalog.regtype and a.privilege_type = 'EXECUTE' and a.grantee not in (select oid from superuser)
union all
select 'a definer of a role of the platform looks for names in temporary schemas last', p.oid::pg_catalog.regprocedure::text
from pg_catalog.pg_proc as p
join pg_catalog.pg_namespace as n on n.oid = p.pronamespace
join pg_catalog.pg_roles as o on o.oid = p.proowner and o.rolname ~ '^(supabase|selvedge)_'
-- Other functions of these roles are the project's own.
where n.nspname in (
    '_selvedge', 'selvedge_console', 'vault', 'realtime', 'auth', 'storage', 'graphql', 'graphql_public', 'supabase_functions'
  )
  and p.prosecdef and p.prosqlbody is null and p.proowner not in (select oid from superuser) and not exists (
    select from pg_catalog.unnest(p.proconfig) as s (setting) where s.setting ~ '^search_path=([^,]+, *)+"?pg_temp"?$'
  )
union all
select 'columns of tables of a superuser have types of superusers', a.attrelid::pg_catalog.regclass || '.' || a.attname
from pg_catalog.pg_class as c
join pg_catalog.pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
join pg_catalog.pg_type as t on t.oid = a.atttypid and t.typowner not in (select oid from superuser)
where c.relowner in (select oid from superuser) and c.relkind in ('r', 'p', 'v', 'm', 'f')
union all
select 'nobody references or has triggers on a table of a superuser', c.oid::pg_catalog.regclass::text || ' to '
  || coalesce(g.rolname::text, 'PUBLIC')
from pg_catalog.pg_class as c
cross join lateral (
  select acl.grantee, acl.privilege_type from pg_catalog.aclexplode(c.relacl) as acl
  union all
  select acl.grantee, acl.privilege_type
  from pg_catalog.pg_attribute as col, pg_catalog.aclexplode(col.attacl) as acl where col.attrelid = c.oid
) as a
left join pg_catalog.pg_roles as g on g.oid = a.grantee
where c.relowner in (select oid from superuser) and c.oid >= 16384 and c.relkind in ('r', 'p', 'v', 'm', 'f')
  and a.privilege_type in ('REFERENCES', 'TRIGGER') and a.grantee not in (select oid from superuser)
union all
select 'default privileges of a superuser give no REFERENCES and no TRIGGER',
  coalesce(d.defaclnamespace::pg_catalog.regnamespace::text, '') || ' to ' || a.grantee::pg_catalog.regrole
from pg_catalog.pg_default_acl as d, pg_catalog.aclexplode(d.defaclacl) as a
where d.defaclobjtype = 'r' and d.defaclrole in (select oid from superuser)
  and a.privilege_type in ('REFERENCES', 'TRIGGER') and a.grantee not in (select oid from superuser)
union all
select 'a foreign key onto a table of a superuser compares equal types', c.conname || ' of ' || c.conrelid::pg_catalog.regclass
from pg_catalog.pg_constraint as c
join pg_catalog.pg_class as t on t.oid = c.confrelid
join pg_catalog.pg_class as f on f.oid = c.conrelid
where c.contype = 'f' and t.relowner in (select oid from superuser) and f.relowner not in (select oid from superuser)
  and exists (
    select from pg_catalog.generate_subscripts(c.conkey, 1) as k
    join pg_catalog.pg_attribute as x on x.attrelid = c.conrelid and x.attnum = c.conkey[k]
    join pg_catalog.pg_attribute as y on y.attrelid = c.confrelid and y.attnum = c.confkey[k]
    where x.atttypid <> y.atttypid
  )
union all
select 'triggers on a table of a superuser run functions of superusers', t.tgname || ' of ' || t.tgrelid::pg_catalog.regclass
from pg_catalog.pg_trigger as t
join pg_catalog.pg_class as c on c.oid = t.tgrelid
join pg_catalog.pg_proc as p on p.oid = t.tgfoid
where c.relowner in (select oid from superuser) and p.proowner not in (select oid from superuser)
union all
select 'conditions of triggers on a table of a superuser call nothing of others', t.tgname || ' of ' || t.tgrelid::pg_catalog.regclass
from pg_catalog.pg_trigger as t
join pg_catalog.pg_class as c on c.oid = t.tgrelid
where c.relowner in (select oid from superuser) and t.tgqual is not null and exists (
  select from pg_catalog.pg_depend as d
  left join pg_catalog.pg_proc as p on d.refclassid = 'pg_catalog.pg_proc'::pg_catalog.regclass and p.oid = d.refobjid
  left join pg_catalog.pg_operator as o on d.refclassid = 'pg_catalog.pg_operator'::pg_catalog.regclass and o.oid = d.refobjid
  left join pg_catalog.pg_type as y on d.refclassid = 'pg_catalog.pg_type'::pg_catalog.regclass and y.oid = d.refobjid
  where d.classid = 'pg_catalog.pg_trigger'::pg_catalog.regclass and d.objid = t.oid
    and coalesce(p.proowner, o.oprowner, y.typowner) not in (select oid from superuser)
)
union all
select 'a function that its extension has closed stays closed', p.oid::pg_catalog.regprocedure || ' to ' || a.grantee::pg_catalog.regrole
from pg_catalog.pg_depend as d
join pg_catalog.pg_proc as p on p.oid = d.objid
join pg_catalog.pg_namespace as n on n.oid = p.pronamespace
join pg_catalog.pg_extension as e on e.oid = d.refobjid
cross join lateral pg_catalog.aclexplode(p.proacl) as a
where d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass and d.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass
  and d.deptype = 'e' and p.proowner in (select oid from superuser)
  -- What a script grants by name is in a schema of its own.
  and n.nspowner not in (select oid from superuser)
  and not exists (select from pg_catalog.aclexplode(p.proacl) as x where x.grantee = 0)
  and (
    a.grantee::pg_catalog.regrole::text in ('anon', 'authenticated', 'service_role')
    or (a.grantee::pg_catalog.regrole::text = 'postgres' and e.extname not in (
      'amcheck', 'pg_buffercache', 'pg_stat_statements', 'pg_visibility', 'pg_walinspect', 'pgstattuple'
    ) and not (select r.rolsuper from pg_catalog.pg_roles as r where r.rolname = 'postgres'))
  )
union all
select 'pg_catalog has objects of superusers only', pg_catalog.pg_describe_object(f.class, f.oid, 0)
from (
  select 'pg_catalog.pg_proc'::pg_catalog.regclass, p.oid, p.proowner, p.pronamespace from pg_catalog.pg_proc as p
  union all
  select 'pg_catalog.pg_operator'::pg_catalog.regclass, p.oid, p.oprowner, p.oprnamespace from pg_catalog.pg_operator as p
  union all
  select 'pg_catalog.pg_type'::pg_catalog.regclass, p.oid, p.typowner, p.typnamespace from pg_catalog.pg_type as p
  union all
  select 'pg_catalog.pg_class'::pg_catalog.regclass, p.oid, p.relowner, p.relnamespace from pg_catalog.pg_class as p
) as f (class, oid, owner, namespace)
where f.namespace = 11 and f.owner not in (select oid from superuser)
union all
select 'a foreign-data wrapper has handler and validator of one extension', w.fdwname::text
from pg_catalog.pg_foreign_data_wrapper as w
where (
    (w.fdwhandler <> 0 and w.fdwvalidator = 0)
    or exists (
      select from pg_catalog.pg_proc as p
      where p.oid in (w.fdwhandler, w.fdwvalidator) and p.proowner not in (select oid from superuser)
    )
    or (
      w.fdwowner not in (select oid from superuser) and exists (
        select from pg_catalog.pg_proc as p where p.oid = w.fdwhandler and p.probin = '$libdir/file_fdw'
      )
    )
  )
union all
select 'dblink looks at the connections that it is given', p.oid::pg_catalog.regprocedure::text
from pg_catalog.pg_extension as e
join pg_catalog.pg_depend as d on d.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass and d.refobjid = e.oid and d.deptype = 'e'
  and d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass
join pg_catalog.pg_proc as p on p.oid = d.objid
where e.extname = 'dblink' and (
    p.prosrc = 'dblink_connect' and p.proargtypes in ('25'::pg_catalog.oidvector, '25 25'::pg_catalog.oidvector)
    or p.prosrc in ('dblink_record', 'dblink_exec') and p.proargtypes in ('25 25'::pg_catalog.oidvector, '25 25 16'::pg_catalog.oidvector)
  )
  and (p.proacl is null or exists (
    select from pg_catalog.aclexplode(p.proacl) as a where a.grantee not in (select oid from superuser)
  ))
union all
-- The options of a mapping are shown to its role, and to whoever owns the server.
select 'options of connections that name files are a superuser''s', f.server || ': ' || o.option_name
from (
  select s.srvname::text as server, s.srvoptions as options from pg_catalog.pg_foreign_server as s
  where s.srvowner not in (select oid from superuser)
  union all
  select m.srvname::text, m.umoptions from pg_catalog.pg_user_mappings as m where m.umuser not in (select oid from superuser)
) as f
cross join lateral pg_catalog.pg_options_to_table(f.options) as o
where o.option_name ~ '^(ssl(key|cert|crl|crldir|password|keylogfile)|passfile|service|servicefile|krbsrvname|gsslib|gssdelegation|oauth_.*)$'
  or (o.option_name = 'sslrootcert' and o.option_value is distinct from 'system')
union all
select 'event triggers of projects call the function of a superuser that always has the same text', t.evtname::text
from pg_catalog.pg_event_trigger as t
join pg_catalog.pg_proc as p on p.oid = t.evtfoid
where p.proowner not in (select oid from superuser) or (
  t.evtowner not in (select oid from superuser) and p.prosrc <> (
    'begin if not _selvedge.is_event_trigger_skipped() then perform _selvedge.run_event_trigger('
    || pg_catalog.substr(p.proname::text, 15) || '::oid, tg_event, tg_tag) limit 1; end if; end'
  )
)
union all
select 'the platform''s event triggers fire always', wanted.name
from (values
  ('selvedge_open_new_extension'::text), ('selvedge_refresh_event_trigger_copies'), ('selvedge_check_extension_scripts'),
  ('_selvedge_check_connections'), ('_selvedge_check_subscription'), ('_selvedge_close_new_extension')
) as wanted (name)
where not exists (
  select from pg_catalog.pg_event_trigger as t
  where t.evtname::text = wanted.name and t.evtenabled = 'A' and t.evtowner in (select oid from superuser)
)
union all
select 'schemas of the platform belong to a superuser', n.nspname || ' of ' || n.nspowner::pg_catalog.regrole
from pg_catalog.pg_namespace as n
where n.nspname in ('_selvedge', 'selvedge_console', 'vault', 'realtime', 'auth', 'storage', 'graphql', 'graphql_public')
  and n.nspowner not in (select oid from superuser)
union all
select 'nobody creates in a schema whose functions run as a superuser', n.nspname || ' to ' || a.grantee::pg_catalog.regrole
from pg_catalog.pg_namespace as n, pg_catalog.aclexplode(n.nspacl) as a
where n.nspname in ('_selvedge', 'selvedge_console', 'vault', 'cron', 'net')
  and n.nspowner in (select oid from superuser)
  and a.privilege_type = 'CREATE' and a.grantee not in (select oid from superuser)
union all
select 'tables that decide what a superuser runs are guarded', wanted.name || case
    when c.oid is null then ' is missing' when c.relowner not in (select oid from superuser) then ' is no superuser''s' else ''
  end
from (values
  ('_selvedge.platform_migrations'::text, null::text), ('_selvedge.shipped_extensions', null), ('_selvedge.selvedge_installed_extensions', null),
  ('_selvedge.selvedge_event_trigger_functions', null), ('_selvedge.selvedge_project_settings', null),
  -- Tables of extensions, each with a function that shows that the extension is there.
  ('vault._key_file', '_crypto_aead_det_decrypt'), ('cron.job', '_require_valid_schedule')
) as wanted (name, beside)
-- By name, because looking a table up needs USAGE of its schema, which not every role has that may ask.
left join pg_catalog.pg_namespace as n on n.nspname = pg_catalog.split_part(wanted.name, '.', 1)
left join pg_catalog.pg_class as c on c.relnamespace = n.oid and c.relname = pg_catalog.split_part(wanted.name, '.', 2) and c.relkind in ('r', 'p')
where (c.oid is null or c.relowner not in (select oid from superuser) or not exists (
    select from pg_catalog.pg_trigger as t
    where t.tgrelid = c.oid and t.tgenabled = 'A' and t.tgname in ('selvedge_refuse_change', 'cron_job_check_owner')
  ))
  and case
    when wanted.beside is not null then exists (
      select from pg_catalog.pg_proc as p
      where p.pronamespace = n.oid and p.proname = wanted.beside and p.proowner in (select oid from superuser)
    )
    else c.oid is not null or $1::pg_catalog.bool
  end
union all
-- Default privileges reach a view that is made now, and did not reach the table that was made before them.
select 'a former name of a table gives no right that the table does not give', v.oid::pg_catalog.regclass || ': ' || a.privilege_type || ' to '
  || coalesce(g.rolname::text, 'PUBLIC')
from pg_catalog.pg_class as v
join pg_catalog.pg_namespace as n on n.oid = v.relnamespace and n.nspname = '_selvedge'
join pg_catalog.pg_class as t on t.relnamespace = n.oid and t.relname = 'selvedge_' || v.relname and t.relkind in ('r', 'p')
cross join lateral (
  select acl.grantee, acl.privilege_type, acl.is_grantable, null::name as name from pg_catalog.aclexplode(v.relacl) as acl
  union all
  select acl.grantee, acl.privilege_type, acl.is_grantable, col.attname
  from pg_catalog.pg_attribute as col, pg_catalog.aclexplode(col.attacl) as acl where col.attrelid = v.oid
) as a
left join pg_catalog.pg_roles as g on g.oid = a.grantee
where v.relkind in ('v', 'm') and a.grantee not in (select oid from superuser)
  and not exists (
    select from pg_catalog.aclexplode(t.relacl) as x
    where x.grantee = a.grantee and x.privilege_type = a.privilege_type and (x.is_grantable or not a.is_grantable)
  )
  and not exists (
    select from pg_catalog.pg_attribute as col, pg_catalog.aclexplode(col.attacl) as x
    where col.attrelid = t.oid and col.attname = a.name and x.grantee = a.grantee and x.privilege_type = a.privilege_type
      and (x.is_grantable or not a.is_grantable)
  )
union all
select 'a library is no plugin of a replication slot', p.oid::pg_catalog.regprocedure || ' is open to others than superusers'
from pg_catalog.pg_proc as p
where p.pronamespace = 11 and p.proname in ('pg_create_logical_replication_slot', 'pg_copy_logical_replication_slot')
  and (p.proacl is null or exists (
    select from pg_catalog.aclexplode(p.proacl) as a where a.grantee not in (select oid from superuser)
  ))
union all
select 'the superuser owns plpgsql', 'plpgsql of ' || e.extowner::pg_catalog.regrole
from pg_catalog.pg_extension as e where e.extname = 'plpgsql' and e.extowner not in (select oid from superuser)
)
select f.rule, f.object from found as f
-- Where `postgres` is a superuser, there is nothing to keep from it.
where not (select r.rolsuper from pg_catalog.pg_roles as r where r.rolname = 'postgres')
order by f.rule, f.object
