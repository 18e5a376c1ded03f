create table public.accounts (
  id int primary key,
  balance numeric not null constraint accounts_balance_not_negative check (balance >= 0)
);
create function public.transfer(source int, target int, amount numeric) returns void
  language plpgsql as $$
begin
  if amount <= 0 then
    raise exception 'amount must be positive' using errcode = '22023', hint = 'Send more than nothing.';
  end if;
  if not exists (select from accounts where id = target) then
    raise exception 'account % not found', target using errcode = 'P0002';
  end if;
  update accounts set balance = balance - amount where id = source;
  update accounts set balance = balance + amount where id = target;
end
$$;
create function public.teapot() returns void language plpgsql as $$
begin
  raise sqlstate 'PT418' using message = 'I am a teapot';
end
$$;
