-- Evaluates conditions, each with the operators of exactly its column's type.
select realtime.check_equality_op(c.op::realtime.equality_op, c.type::oid::regtype, c.actual, c.operand, c.negated)
from unnest($1::text[], $2::oid[], $3::text[], $4::text[], $5::boolean[])
  with ordinality as c (op, type, actual, operand, negated, n)
order by c.n
