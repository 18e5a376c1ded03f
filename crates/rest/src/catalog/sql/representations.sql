-- Domain representations: implicit casts between a domain and json or text, which define the domain's form in requests
-- and responses.
select
  k.castsource::regtype::text as source,
  k.casttarget::regtype::text as target,
  format('%I.%I', n.nspname, p.proname) as function
from pg_catalog.pg_cast k
join pg_catalog.pg_proc p on p.oid = k.castfunc
join pg_catalog.pg_namespace n on n.oid = p.pronamespace
join pg_catalog.pg_type source on source.oid = k.castsource
join pg_catalog.pg_type target on target.oid = k.casttarget
where k.castcontext = 'i' and k.castmethod = 'f'
  and pg_catalog.has_function_privilege(k.castfunc, 'execute')
  and (source.typtype = 'd' and k.casttarget in ('json'::regtype, 'text'::regtype)
       or target.typtype = 'd' and k.castsource in ('json'::regtype, 'text'::regtype));
