-- Search by a part of the name. As a plain filter under row security, `ilike` is not leakproof and
-- therefore runs after the policy, row by row; here the trigram index of combines can answer.

create function public.search_outfits(term text, max_results int default 50)
  returns setof public.combines
  language plpgsql
  stable
  -- Security definer, because the query itself restricts the result to approved outfits, as the policy for
  -- visitors does.
  security definer
  set search_path = ''
  -- The trigram index is fast for rare terms, reading the newest outfits for common ones: the planner can
  -- choose only when it sees the term.
  set plan_cache_mode = force_custom_plan
as $$
declare
  pattern constant text := '%' || regexp_replace(btrim(term), '([\\%_])', '\\\1', 'g') || '%';
begin
  return query
    select c.*
    from public.combines as c
    where c.status = 'approved' and c.name ilike pattern
    order by c.created_at desc, c.id
    limit least(greatest(max_results, 0), 100);
end
$$;
comment on function public.search_outfits(text, int) is
  'Approved outfits whose name contains the term, newest first, at most 100.';
