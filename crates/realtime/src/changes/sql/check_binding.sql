-- Raises the error that refuses a binding whose filters or columns the role cannot use.
select realtime.check_binding(
  $1, $2::oid::regclass,
  coalesce(
    (
      select array_agg(
        (f ->> 0, (f ->> 1)::realtime.equality_op, f ->> 2, (f ->> 3)::boolean)::realtime.user_defined_filter
      )
      from jsonb_array_elements($3::text::jsonb) as f
    ),
    '{}'
  ),
  coalesce($4::text[], '{}')
)
