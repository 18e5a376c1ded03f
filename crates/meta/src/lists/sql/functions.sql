-- The source of PostgreSQL's own functions is the name of a C function, so there is no statement to show.
select
  p.oid::int8 as id,
  n.nspname as schema,
  p.proname as name,
  l.lanname as language,
  case when l.lanname = 'internal' then '' else p.prosrc end as definition,
  case when l.lanname = 'internal' then p.prosrc else pg_get_functiondef(p.oid) end as complete_statement,
  (
    select coalesce(json_agg(json_build_object(
      'mode', case coalesce(p.proargmodes[argument.position], 'i')
        when 'i' then 'in'
        when 'o' then 'out'
        when 'b' then 'inout'
        when 'v' then 'variadic'
        else 'table'
      end,
      'name', coalesce(p.proargnames[argument.position], ''),
      'type_id', argument.type::int8,
      -- Only the last arguments have defaults, counted among those that a caller passes.
      'has_default', case when coalesce(p.proargmodes[argument.position], 'i') in ('i', 'b', 'v')
        then argument.passed > p.pronargs - p.pronargdefaults end
    ) order by argument.position), '[]')
    from (
      select
        every.type,
        every.position,
        count(*) filter (where coalesce(p.proargmodes[every.position], 'i') in ('i', 'b', 'v'))
          over (order by every.position) as passed
      from unnest(coalesce(p.proallargtypes, p.proargtypes::oid[])) with ordinality as every(type, position)
    ) argument
  ) as args,
  pg_get_function_arguments(p.oid) as argument_types,
  pg_get_function_identity_arguments(p.oid) as identity_argument_types,
  p.prorettype::int8 as return_type_id,
  pg_get_function_result(p.oid) as return_type,
  nullif(result.typrelid, 0)::int8 as return_type_relation_id,
  p.proretset as is_set_returning_function,
  case when p.proretset then nullif(p.prorows, 0) end as prorows,
  case p.provolatile when 'i' then 'IMMUTABLE' when 's' then 'STABLE' else 'VOLATILE' end as behavior,
  p.prosecdef as security_definer,
  (
    select json_object_agg(split_part(setting, '=', 1), substr(setting, strpos(setting, '=') + 1))
    from unnest(p.proconfig) as setting
  ) as config_params
from pg_proc p
join pg_namespace n on n.oid = p.pronamespace
join pg_language l on l.oid = p.prolang
join pg_type result on result.oid = p.prorettype
where p.prokind = 'f'
