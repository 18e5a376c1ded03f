-- Deleting an account needs a sign-in of the last minutes. The username, which was asked for before, is public: it protects from a
-- mistake, and not from somebody who has found an open browser or a token.

create function private.signed_in_at() returns timestamptz
  language sql
  stable
  -- Security definer: sessions are not readable by the API.
  security definer
  set search_path = ''
as $$
  -- Renewing a token is no sign-in, and an ended session is none either.
  select max(claim.updated_at)
  from auth.sessions as s
  join auth.mfa_amr_claims as claim on claim.session_id = s.id
  where s.id = (auth.jwt() ->> 'session_id')::uuid and s.user_id = auth.uid()
    and claim.authentication_method <> 'token_refresh'
$$;
comment on function private.signed_in_at() is
  'When the caller last proved who they are, in the session of this request; null without one.';

create or replace function public.delete_my_account(confirmation text) returns void
  language plpgsql
  security definer
  set search_path = ''
as $$
declare
  me constant uuid := auth.uid();
  expected text;
begin
  select coalesce(p.username, u.email) into expected
  from auth.users as u left join public.profiles as p on p.id = u.id
  where u.id = me;
  if not found then
    raise exception 'Sign in to delete your account.' using errcode = 'insufficient_privilege';
  end if;
  if lower(btrim(confirmation)) is distinct from lower(expected) then
    raise exception 'The confirmation is not the username of the account.'
      using errcode = 'check_violation', constraint = 'account_deletion_confirmed',
            hint = 'An account without a username is confirmed by its e-mail address.';
  end if;
  if coalesce(private.signed_in_at() < now() - interval '10 minutes', true) then
    raise exception 'Sign in again to delete your account.'
      using errcode = 'PT403', hint = 'The last sign-in must not be older than ten minutes.';
  end if;
  -- The lock serialises changes of administrators, as in set_user_role.
  perform from public.profiles as p where p.role = 'admin' order by p.id for update;
  if exists (select from public.profiles as p where p.id = me and p.role = 'admin')
     and not exists (select from public.profiles as p where p.role = 'admin' and p.id <> me) then
    raise exception 'The last administrator cannot be deleted.'
      using errcode = 'check_violation', hint = 'Make somebody else an administrator first.';
  end if;

  -- Sessions, identities, the profile, files and what belongs to it go with the account (private.remove_person).
  delete from auth.users as u where u.id = me;
end
$$;
comment on function public.delete_my_account(text) is
  'Signed-in people only: deletes rows, files and sessions of the caller, who has signed in within the last ten minutes. The confirmation is their username, or the e-mail address of an account without one.';
