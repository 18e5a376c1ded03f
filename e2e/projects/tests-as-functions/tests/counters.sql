begin;
create schema unit;
create function unit.setup_counters() returns setof text language plpgsql as $$
begin
  insert into counters values ('clicks', 41);
end
$$;
create function unit.test_bump() returns setof text language plpgsql as $$
begin
  return next is(bump('clicks'), 42, 'an existing counter');
  return next is(bump('views'), 1, 'a new counter');
end
$$;
create function unit.test_is_isolated() returns setof text language plpgsql as $$
begin
  return next results_eq('select value from counters', array[41], 'each test begins anew');
end
$$;
select * from runtests('unit'::name);
rollback;
