-- PostgreSQL writes functions and procedures itself; aggregates are composed from their parts.
select concat_ws(E'\n',
  case when p.prokind <> 'a' then rtrim(pg_get_functiondef(p.oid), E'\n') || ';'
  else format(E'create aggregate %I.%I(%s) (\n  %s\n);', n.nspname, p.proname,
    coalesce(nullif(pg_get_function_arguments(p.oid), ''), '*'),
    array_to_string(array_remove(array[
      format('sfunc = %s', g.aggtransfn::regproc),
      format('stype = %s', format_type(g.aggtranstype, null)),
      case when g.aggtransspace > 0 then format('sspace = %s', g.aggtransspace) end,
      case when g.aggfinalfn <> 0 then format('finalfunc = %s', g.aggfinalfn::regproc) end,
      case when g.aggfinalfn <> 0 and g.aggfinalextra then 'finalfunc_extra' end,
      case when g.aggcombinefn <> 0 then format('combinefunc = %s', g.aggcombinefn::regproc) end,
      case when g.aggserialfn <> 0 then format('serialfunc = %s', g.aggserialfn::regproc) end,
      case when g.aggdeserialfn <> 0 then format('deserialfunc = %s', g.aggdeserialfn::regproc) end,
      case when g.agginitval is not null then format('initcond = %L', g.agginitval) end,
      case when g.aggmtransfn <> 0 then format('msfunc = %s', g.aggmtransfn::regproc) end,
      case when g.aggminvtransfn <> 0 then format('minvfunc = %s', g.aggminvtransfn::regproc) end,
      case when g.aggmtranstype <> 0 then format('mstype = %s', format_type(g.aggmtranstype, null)) end,
      case when g.aggmfinalfn <> 0 then format('mfinalfunc = %s', g.aggmfinalfn::regproc) end,
      case when g.aggminitval is not null then format('minitcond = %L', g.aggminitval) end,
      case when g.aggsortop <> 0 then format('sortop = %s', g.aggsortop::regoperator) end,
      case when g.aggkind = 'h' then 'hypothetical' end,
      case p.proparallel when 's' then 'parallel = safe' when 'r' then 'parallel = restricted' end
    ], null), E',\n  '))
  end,
  (select format('comment on %s %I.%I(%s) is %L;',
      case p.prokind when 'p' then 'procedure' when 'a' then 'aggregate' else 'function' end,
      n.nspname, p.proname, pg_get_function_identity_arguments(p.oid), description)
    from obj_description(p.oid, 'pg_proc') as description where description is not null))
from pg_proc p
join pg_namespace n on n.oid = p.pronamespace
left join pg_aggregate g on g.aggfnoid = p.oid
where p.oid = $1::text::oid
