-- Raises the error of the first binding whose filters or columns the role cannot use.
select realtime.check_binding(
  $1, (b ->> 0)::oid::regclass,
  coalesce(
    (
      select array_agg(
        (f ->> 0, (f ->> 1)::realtime.equality_op, f ->> 2, (f ->> 3)::boolean)::realtime.user_defined_filter
      )
      from jsonb_array_elements(b -> 1) as f
    ),
    '{}'
  ),
  coalesce((select array_agg(s) from jsonb_array_elements_text(b -> 2) as s), '{}')
)
from jsonb_array_elements($2::text::jsonb) as b
