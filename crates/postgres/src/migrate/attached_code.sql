-- What is attached to tables and runs code of somebody who is no superuser when a superuser reads or writes them, with triggers and
-- foreign keys switched off (session_replication_role = replica). One sentence per object.
-- Parameter: $1 the tables' oids.
with tables as (
  select c.oid, c.relkind, pg_catalog.format('%s.%s', n.nspname, c.relname) as name
  from pg_catalog.pg_class as c
  join pg_catalog.pg_namespace as n on n.oid operator(pg_catalog.=) c.relnamespace
  where c.oid operator(pg_catalog.=) any ($1::pg_catalog.oid[])
), attached as (
  select t.name, 'index'::pg_catalog.text as kind, 'pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid as class, i.indexrelid as oid
  from tables as t join pg_catalog.pg_index as i on i.indrelid operator(pg_catalog.=) t.oid
  union all
  select t.name, 'constraint', 'pg_catalog.pg_constraint'::pg_catalog.regclass::pg_catalog.oid, k.oid
  from tables as t join pg_catalog.pg_constraint as k on k.conrelid operator(pg_catalog.=) t.oid
  where k.contype operator(pg_catalog.=) any (array['c', 'x']::pg_catalog."char"[])
  union all
  select t.name, 'default', 'pg_catalog.pg_attrdef'::pg_catalog.regclass::pg_catalog.oid, d.oid
  from tables as t join pg_catalog.pg_attrdef as d on d.adrelid operator(pg_catalog.=) t.oid
  union all
  select t.name, 'statistics', 'pg_catalog.pg_statistic_ext'::pg_catalog.regclass::pg_catalog.oid, s.oid
  from tables as t join pg_catalog.pg_statistic_ext as s on s.stxrelid operator(pg_catalog.=) t.oid
  union all
  select t.name, 'column', 'pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid, t.oid from tables as t
), used as (
  select a.name, a.kind, d.refclassid, d.refobjid
  from attached as a
  join pg_catalog.pg_depend as d on d.classid operator(pg_catalog.=) a.class and d.objid operator(pg_catalog.=) a.oid
), owned as (
  select 'pg_catalog.pg_proc'::pg_catalog.regclass::pg_catalog.oid as class, p.oid, p.proowner as owner, p.proname as name
  from pg_catalog.pg_proc as p
  union all
  select 'pg_catalog.pg_operator'::pg_catalog.regclass::pg_catalog.oid, o.oid, o.oprowner, o.oprname from pg_catalog.pg_operator as o
  union all
  select 'pg_catalog.pg_opclass'::pg_catalog.regclass::pg_catalog.oid, o.oid, o.opcowner, o.opcname from pg_catalog.pg_opclass as o
  union all
  -- An enumeration has no code of its own.
  select 'pg_catalog.pg_type'::pg_catalog.regclass::pg_catalog.oid, y.oid, y.typowner, y.typname from pg_catalog.pg_type as y
  where y.typtype operator(pg_catalog.<>) 'e'::pg_catalog."char"
    and not (y.typtype operator(pg_catalog.=) 'c'::pg_catalog."char")
)
select distinct pg_catalog.format('%s of %s uses %s', u.kind, u.name, o.name)
from used as u
join owned as o on o.class operator(pg_catalog.=) u.refclassid and o.oid operator(pg_catalog.=) u.refobjid
join pg_catalog.pg_authid as a on a.oid operator(pg_catalog.=) o.owner
where not a.rolsuper
union all
-- What calls functions of PostgreSQL itself, on which pg_depend has no entry.
select pg_catalog.format('constraint %s of %s', k.conname, t.name)
from tables as t join pg_catalog.pg_constraint as k on k.conrelid operator(pg_catalog.=) t.oid
where k.contype operator(pg_catalog.=) any (array['c', 'x']::pg_catalog."char"[])
union all
select pg_catalog.format('index %s of %s', c.relname, t.name)
from tables as t
join pg_catalog.pg_index as i on i.indrelid operator(pg_catalog.=) t.oid
join pg_catalog.pg_class as c on c.oid operator(pg_catalog.=) i.indexrelid
where i.indpred is not null or i.indexprs is not null
union all
select pg_catalog.format('statistics %s of %s', s.stxname, t.name)
from tables as t join pg_catalog.pg_statistic_ext as s on s.stxrelid operator(pg_catalog.=) t.oid
where s.stxexprs is not null
union all
select pg_catalog.format('default of %s', t.name)
from tables as t join pg_catalog.pg_attrdef as d on d.adrelid operator(pg_catalog.=) t.oid
where pg_catalog.pg_get_expr(d.adbin, d.adrelid) operator(pg_catalog.<>) 'now()'::pg_catalog.text
union all
select pg_catalog.format('%s is no table', t.name) from tables as t
where t.relkind operator(pg_catalog.<>) all (array['r', 'p']::pg_catalog."char"[])
union all
select pg_catalog.format('rule %s of %s', r.rulename, t.name)
from tables as t join pg_catalog.pg_rewrite as r on r.ev_class operator(pg_catalog.=) t.oid
where t.relkind operator(pg_catalog.=) any (array['r', 'p']::pg_catalog."char"[])
union all
select pg_catalog.format('trigger %s of %s fires always', g.tgname, t.name)
from tables as t
join pg_catalog.pg_trigger as g on g.tgrelid operator(pg_catalog.=) t.oid
join pg_catalog.pg_proc as p on p.oid operator(pg_catalog.=) g.tgfoid
join pg_catalog.pg_authid as a on a.oid operator(pg_catalog.=) p.proowner
where g.tgenabled operator(pg_catalog.=) any (array['A', 'R']::pg_catalog."char"[]) and not a.rolsuper
union all
select pg_catalog.format('%s inherits from %s', c.relname, t.name)
from tables as t
join pg_catalog.pg_inherits as i on i.inhparent operator(pg_catalog.=) t.oid
join pg_catalog.pg_class as c on c.oid operator(pg_catalog.=) i.inhrelid
where t.relkind operator(pg_catalog.=) 'r'::pg_catalog."char"
